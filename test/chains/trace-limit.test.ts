import { expect } from 'chai';
import type { Fault, FaultProxy, RpcCall } from '../../dev/support/fault-proxy.ts';
import { createTracer } from '../../src/chains/bsc/traces/tracer.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import type { RpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { isTrace, NO_TRACES, without } from '../services/watcher/test-watcher.ts';
import { ALICE, bscScene } from './bsc-scene.ts';
import { madeUpClock } from './tron/endpoints/node.ts';

const tooMany = ({ id }: RpcCall) => ({
  json: { jsonrpc: '2.0', id, error: { code: -32005, message: 'limit exceeded' } },
});
const refusing = (times: number): Fault => {
  let left = times;
  return (call) => (isTrace(call) && left-- > 0 ? tooMany(call) : undefined);
};

describe('a trace that is refused for the number of requests', () => {
  const the = bscScene();
  let proxy: FaultProxy;
  let rpc: RpcPool;
  let reader: ChainReader;
  let number: number;
  let clock: ReturnType<typeof madeUpClock>;

  before(async () => {
    [proxy] = the.proxies as [FaultProxy];
    await the.payer.call('payCoin', [ALICE, 5n]);
    number = await the.chain.mine();
  });
  beforeEach(() => {
    clock = madeUpClock();
    rpc = the.poolOf();
    reader = the.readerOf(rpc, { now: clock.now, tracer: createTracer(clock) });
  });
  const isTraced = async () => (await the.scan(reader, number)).untraced === undefined;

  it('is waited for by a read that decides', async () => {
    expect(await isTraced()).to.equal(true);
    proxy.fault = refusing(2);
    expect([await isTraced(), rpc.status()[0]?.problem]).to.deep.equal([true, null]);
  });

  it('holds such a read up for some tries only, is remembered, and is due again soon', async () => {
    await isTraced();
    proxy.fault = refusing(1_000);
    expect([await isTraced(), reader.missedTraces?.due()]).to.deep.equal([false, []]);
    await clock.pause(2_000);
    expect(reader.missedTraces?.due()).to.deep.equal([number]);
    proxy.fault = undefined;
    await clock.pause(30_000);
    expect(await isTraced()).to.equal(true);
    reader.missedTraces?.done(number);
    expect(reader.missedTraces?.due()).to.deep.equal([]);
  });

  it('never counts towards giving an endpoint up', async () => {
    await isTraced();
    proxy.fault = refusing(1_000);
    for (let nth = 0; nth < 10; nth++) {
      expect(await isTraced()).to.equal(false);
      await clock.pause(30_000);
    }
    proxy.fault = undefined;
    expect(await isTraced()).to.equal(true);
  });

  it('leaves nothing to remember where no endpoint traces at all', async () => {
    proxy.fault = without(...NO_TRACES);
    expect(await isTraced()).to.equal(false);
    await clock.pause(600_000);
    expect(reader.missedTraces?.due()).to.deep.equal([]);
  });
});
