import { expect } from 'chai';
import type { Fault, FaultProxy } from '../../dev/support/fault-proxy.ts';
import { changed } from '../../dev/support/faults.ts';
import { createTracer } from '../../src/chains/bsc/traces/tracer.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import type { RpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { isTrace, NO_TRACES, refusesTraces, without } from '../services/watcher/test-watcher.ts';
import { ALICE, bscScene, signal } from './bsc-scene.ts';

describe('a trace from another endpoint than the block', () => {
  const the = bscScene({ endpoints: 3 });
  let first: FaultProxy;
  let second: FaultProxy;
  let third: FaultProxy;
  let rpc: RpcPool;
  let number: number;
  const nowMs = 0;

  before(async () => {
    [first, second, third] = the.proxies as [FaultProxy, FaultProxy, FaultProxy];
    await the.payer.call('payCoin', [ALICE, 5n]);
    number = await the.chain.mine();
  });
  beforeEach(() => {
    first.fault = without(...NO_TRACES);
  });

  /** A trace has all the time that a busy machine needs, except where it never comes. */
  const readerOf = (count: number, timeoutMs = 10_000): ChainReader => {
    rpc = the.poolOf(the.proxies.slice(0, count), { timeoutMs: 20_000 });
    return the.readerOf(rpc, { tracer: createTracer({ timeoutMs, now: () => nowMs }) });
  };
  const isTraced = async (reader: ChainReader, height = number) =>
    (await the.scan(reader, height)).untraced === undefined;
  const forget = (): void => {
    for (const proxy of the.proxies) proxy.calls.length = 0;
  };
  const traces = () => [second, third].map((proxy) => proxy.calls.filter(isTrace).length);
  const problems = () => rpc.status().flatMap(({ problem }) => problem ?? []);

  it('is asked for when the block is final, and not while it is new', async () => {
    const reader = readerOf(2);
    await the.payer.call('payCoin', [ALICE, 6n]);
    const height = await the.chain.mine();
    expect((await reader.finalized(signal)).number).to.be.below(height);
    expect([await isTraced(reader, height), traces()]).to.deep.equal([false, [0, 0]]);
    await the.chain.mine(5);
    await reader.finalized(signal);
    const { untraced, transfers } = await the.scan(reader, height);
    expect([untraced, transfers.map(({ amountUnits }) => amountUnits)]).to.deep.equal([undefined, [6n]]);
  });

  it('is not asked for where the endpoint of the block shows it, nor for a block without transactions', async () => {
    expect(await isTraced(readerOf(2), await the.chain.mine())).to.equal(true);
    first.fault = undefined;
    expect([await isTraced(readerOf(2)), traces()]).to.deep.equal([true, [0, 0]]);
  });

  const WRONG: Readonly<Record<string, Fault>> = {
    'of another block': changed('trace_block', (all: object[]) =>
      all.map((trace) => ({ ...trace, blockHash: `0x${'1'.repeat(64)}` })),
    ),
    'that is refused': refusesTraces,
    'that never comes': (call) => (isTrace(call) ? 'hang' : undefined),
  };
  for (const [name, fault] of Object.entries(WRONG))
    it(`${name} is not taken but asked for at the next endpoint, once each, and nobody rests for it`, async () => {
      const reader = readerOf(3, name === 'that never comes' ? 1_000 : 10_000);
      await the.scan(reader, number);
      second.fault = fault;
      // Who traces is known after this one.
      await the.scan(reader, number);
      forget();
      expect([await isTraced(reader), traces()]).to.deep.equal([true, [1, 1]]);
      third.fault = fault;
      forget();
      expect([await isTraced(reader), traces()], 'nobody has it').to.deep.equal([false, [1, 1]]);
      expect(problems()).to.deep.equal([]);
    });
});
