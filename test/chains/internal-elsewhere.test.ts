import { expect } from 'chai';
import { type Contract, TEST_CHAIN_ID, USDT_UNIT } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { eventually } from '../../dev/support/eventually.ts';
import type { Fault } from '../../dev/support/fault-proxy.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import { createTracer } from '../../src/chains/bsc/traces/tracer.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { readMissedTraces } from '../../src/services/watcher/missed-traces.ts';
import {
  isTrace,
  NO_TRACES,
  startAnew,
  startTestWatcher,
  type TestWatcher,
  without,
} from '../services/watcher/test-watcher.ts';
import { madeUpClock } from './tron/endpoints/node.ts';

const NONE = without(...NO_TRACES);

/** Internal BNB with several endpoints, on a real database, without the comparison of balances. */
describe('internal BNB where another endpoint shows it', function () {
  this.timeout(60_000);
  let live: TestWatcher;
  let payer: Contract;

  before(async () => {
    live = await startTestWatcher({ others: 1 });
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 10n * USDT_UNIT });
    await live.chain.mine();
    await live.catchUp();
  });
  after(() => live?.stop());
  /** From now on the two endpoints are so, and nothing is remembered of who traces. */
  const endpoints = (first?: Fault, second?: Fault): void => {
    live.proxy.fault = first;
    Object.assign(live.others[0] ?? {}, { fault: second });
    live.restart();
  };
  const paid = async (units: bigint) => {
    const address = await live.newAddress();
    const hash = await payer.call('payCoin', [address, units]);
    const number = await live.chain.mine();
    return { address, hash, number };
  };
  const depositOf = async (address: string) => {
    const [row] = await live.deposits(address);
    if (!row) return undefined;
    const { transaction_hash: hash, amount_units: units, from_address: from, verified_at: verified } = row;
    return { hash, units, from, isVerified: verified !== null };
  };

  /** A proof has some seconds: one that a busy machine did not give in time is asked for again. */
  const verified = (address: string) =>
    eventually('the proof of what was paid', async () => {
      const found = await depositOf(address);
      if (found?.isVerified) return found;
      await live.finish();
      return undefined;
    });

  it('is a deposit at finality although the endpoint in use offers no traces', async () => {
    endpoints(NONE);
    const { address, hash } = await paid(41n);
    await live.catchUp();
    expect(await depositOf(address), 'the first read does not wait for anybody else').to.equal(undefined);
    await live.finish();
    const found = { hash, units: '41', from: payer.address, isVerified: true };
    expect(await verified(address)).to.deep.equal(found);
  });

  it('stays where the first read showed it and no endpoint shows it any more', async () => {
    endpoints();
    const { address } = await paid(46n);
    await live.catchUp();
    for (const proxy of [live.proxy, ...live.others]) proxy.fault = NONE;
    await live.finish();
    expect(await verified(address)).to.include({ units: '46' });
  });

  it('is found without the comparison after its trace was refused for the number of requests', async () => {
    const clock = madeUpClock();
    const rpc = createRpcPool({ name: 'bsc', urls: [live.proxy.url], chainId: TEST_CHAIN_ID });
    const tracer = createTracer(clock);
    const { address: usdtContract } = live.chain.usdt;
    startAnew(live.watchedChain, createBscReader({ rpc, usdtContract, now: clock.now, tracer }));
    live.proxy.fault = (call) => (isTrace(call) ? { status: 429, body: '{}' } : undefined);
    const several = [await paid(47n), await paid(48n), await paid(49n)];
    await live.finish();
    const { signal } = new AbortController();
    const unitsOf = async () =>
      (await Promise.all(several.map(({ address }) => depositOf(address)))).map((one) => one?.units);
    expect(await unitsOf()).to.deep.equal([undefined, undefined, undefined]);
    live.proxy.fault = undefined;
    expect(await readMissedTraces(live.deps, live.watchedChain, signal), 'not yet').to.equal(0);
    await clock.pause(60_000);
    expect(await readMissedTraces(live.deps, live.watchedChain, signal)).to.equal(3);
    expect(await unitsOf()).to.deep.equal(['47', '48', '49']);
  });
});
