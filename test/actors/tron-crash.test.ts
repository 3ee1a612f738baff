import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveChains, startLiveChains, tronEnv } from '../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../dev/support/live-money.ts';
import { type GatewayChild, startGatewayChild } from '../support/gateway-child.ts';
import { expectWhole, isQuiet } from '../support/whole.ts';

/** Blocks come fast, so that a process which is killed misses many. */
const BLOCK_EVERY_MS = 300;

/**
 * The gateway that watches Tron is killed with SIGKILL and started again: every fact must survive, and none
 * may be doubled. The points are those of two-chains/crash, and here blocks come meanwhile.
 */
describe('a gateway that is killed while it watches Tron', function () {
  this.timeout(120_000);
  let chains: LiveChains;
  let live: LiveMoney;
  let child: GatewayChild;

  const env = () => ({
    DATABASE_URL: live.databaseUrl,
    TEMPORAL_ADDRESS: live.temporal.now.address,
    DUST_FLOOR: 'none',
    ...tronEnv(chains.node),
  });

  before(async () => {
    chains = await startLiveChains({ tron: { blockTimeMs: BLOCK_EVERY_MS } });
    live = chains.live;
    // Only the child works; the gateway of this process is kept for its services.
    await live.gateway.stopWorker();
    child = await startGatewayChild(env());
    const since = new Date();
    const looked = 'select 1 from chain_cursors where network = ? and polled_at > ?';
    await eventually(
      'a look at the chain by the child',
      async () => (await live.gateway.deps.orm.em.fork().execute(looked, ['tron', since])).length > 0,
      40_000,
    );
  });
  after(async () => {
    await child?.child.kill();
    await chains?.stop();
  });

  const pay = (currency: 'USDT' | 'coin', units: bigint) => chains.tron.pay({ currency, units });
  const restart = async (): Promise<void> => {
    await child.child.kill();
    child = await startGatewayChild(env());
  };
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it('keeps and completes once what it had seen before its actors began, between two reads, and while it was away', async () => {
    const paid = new Map<string, bigint>();
    live.temporal.now.pause();
    try {
      paid.set(await pay('USDT', 5_000_000n), 5_000_000n);
      const [first = ''] = paid.keys();
      await eventually('the deposit row', async () => (await live.deposits(first))[0], 30_000);
      await child.child.kill();
    } finally {
      live.temporal.now.resume();
    }
    paid.set(await pay('coin', 9_007_199_254_740_993n), 9_007_199_254_740_993n);
    child = await startGatewayChild(env());
    const [, second = ''] = paid.keys();
    await live.eventOf('deposit.detected', second, 60_000);
    await restart();
    for (const pauseMs of [200, 1_100]) {
      const units = BigInt(pauseMs);
      paid.set(await pay('USDT', units), units);
      await sleep(pauseMs);
      await restart();
    }
    const expected = [...paid].map(([transactionHash, amountUnits]) => ({ transactionHash, amountUnits }));
    await eventually('the end of every deposit', () => isQuiet(live.gateway.deps, expected), 90_000);
    await expectWhole(live.gateway.deps, live.receiver.requests, expected);
    expect(live.receiver.requests.every((request) => request.verified)).to.equal(true);
  });
});
