import { expect } from 'chai';
import {
  type Contract,
  startTestChain,
  TEST_CHAIN_ID,
  type TestChain,
  USDT_UNIT,
} from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type Fault, type FaultProxy, type RpcCall, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import { createTracer } from '../../src/chains/bsc/traces/tracer.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { readMissedTraces } from '../../src/services/watcher/missed-traces.ts';
import { NO_TRACES, startTestWatcher, type TestWatcher, without } from '../services/watcher/test-watcher.ts';

const { signal } = new AbortController();
const FUND = 10n * USDT_UNIT;
const isTrace = (call: RpcCall): boolean => (NO_TRACES as readonly string[]).includes(call.method);
const tooMany = (call: RpcCall) => ({
  json: { jsonrpc: '2.0', id: call.id, error: { code: -32005, message: 'limit exceeded' } },
});

describe('a trace that is refused for the number of requests', function () {
  this.timeout(60_000);
  let chain: TestChain;
  let proxy: FaultProxy;
  let payer: Contract;
  let number: number;
  let nowMs = 0;
  const watched = new AddressSet();
  const alice = `0x${'a1'.repeat(20)}`;

  before(async () => {
    chain = await startTestChain({ slotsInAnEpoch: 1 });
    proxy = await startFaultProxy(chain.url);
    payer = await chain.deploy(testContracts().Payer);
    await chain.send({ to: payer.address, valueUnits: FUND });
    watched.add(alice);
    await payer.call('payCoin', [alice, 5n]);
    number = await chain.mine();
  });
  after(async () => {
    await proxy?.stop();
    await chain?.stop();
  });

  function newReader() {
    const pause = async (ms: number) => {
      nowMs += ms;
    };
    const tracer = createTracer({ now: () => nowMs, pause });
    const rpc = createRpcPool({ name: 'bsc', urls: [proxy.url], chainId: TEST_CHAIN_ID });
    return { reader: createBscReader({ rpc, usdtContract: chain.usdt.address, tracer }), rpc };
  }
  const refusing = (times: number): Fault => {
    let left = times;
    return (call) => (isTrace(call) && left-- > 0 ? tooMany(call) : undefined);
  };
  const traced = async ({ reader }: ReturnType<typeof newReader>) =>
    (await reader.scan(number, watched, signal))?.untraced === undefined;

  it('is waited for by a read that decides', async () => {
    proxy.fault = undefined;
    const scene = newReader();
    expect(await traced(scene)).to.equal(true);
    proxy.fault = refusing(2);
    expect(await traced(scene)).to.equal(true);
    expect(scene.rpc.status()[0]?.problem).to.equal(null);
  });

  it('holds such a read up for some tries only, and is remembered', async () => {
    proxy.fault = undefined;
    const scene = newReader();
    await traced(scene);
    proxy.fault = refusing(1_000);
    expect(await traced(scene)).to.equal(false);
    expect(
      await eventually('the turn of the block', () => scene.reader.missedTraces?.due().includes(number)),
    ).to.equal(true);
    proxy.fault = undefined;
    nowMs += 30_000;
    expect(await traced(scene)).to.equal(true);
    scene.reader.missedTraces?.done(number);
    expect(scene.reader.missedTraces?.due()).to.deep.equal([]);
  });

  it('never counts towards giving an endpoint up', async () => {
    proxy.fault = undefined;
    const scene = newReader();
    await traced(scene);
    proxy.fault = refusing(1_000);
    for (let i = 0; i < 10; i++) {
      expect(await traced(scene)).to.equal(false);
      nowMs += 30_000;
    }
    proxy.fault = undefined;
    expect(await traced(scene)).to.equal(true);
  });

  it('is not taken for an endpoint that offers none', async () => {
    proxy.fault = (call) => (isTrace(call) ? tooMany(call) : undefined);
    const scene = newReader();
    expect(await traced(scene)).to.equal(false);
    proxy.fault = undefined;
    nowMs += 5_000;
    expect(await traced(scene)).to.equal(true);
  });

  it('leaves nothing to remember where no endpoint traces at all', async () => {
    proxy.fault = without(...NO_TRACES);
    const scene = newReader();
    expect(await traced(scene)).to.equal(false);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect(scene.reader.missedTraces?.due()).to.deep.equal([]);
  });
});

describe('internal BNB behind an endpoint with a limit', function () {
  this.timeout(120_000);
  let live: TestWatcher;
  let payer: Contract;

  before(async () => {
    live = await startTestWatcher();
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: FUND });
    await live.finish();
  });
  after(() => live?.stop());
  const foundUntil = async (what: string, payments: number) =>
    await eventually(
      what,
      async () => {
        await live.catchUp().catch(() => undefined);
        await readMissedTraces(live.deps, live.watchedChain, signal);
        const [row] = await live.rows(
          `select count(*)::int as found from deposits where currency = 'BNB' and verified_at is not null`,
        );
        return row?.['found'] === payments;
      },
      60_000,
    );

  it('is found in seconds after the traces of its blocks were refused, without the comparison', async () => {
    const address = await live.newAddress();
    await payer.call('payCoin', [address, 9n]);
    await live.chain.mine();
    live.proxy.fault = (call) => (isTrace(call) ? tooMany(call) : undefined);
    await live.finish();
    expect(await live.deposits(address)).to.deep.equal([]);
    live.proxy.fault = undefined;
    await foundUntil('the payment', 1);
    expect((await live.deposits(address))[0]).to.include({ amount_units: '9' });
  });

  it('is found to the last payment by a catch-up through a limit that was never told', async () => {
    const PAYMENTS = 45;
    const addresses = await Promise.all(Array.from({ length: PAYMENTS }, () => live.newAddress()));
    for (const to of addresses) {
      await payer.call('payCoin', [to, 11n]);
      await live.chain.mine();
    }
    await live.chain.mine(10);
    const served: number[] = [];
    live.proxy.fault = (call) => {
      const now = performance.now();
      while ((served[0] ?? now) < now - 1_000) served.shift();
      if (served.length >= 30) return tooMany(call);
      served.push(now);
      return undefined;
    };
    await foundUntil('every payment', 1 + PAYMENTS);
  });
});
