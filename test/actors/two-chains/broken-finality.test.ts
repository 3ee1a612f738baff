import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../../dev/support/fault-proxy.ts';
import { type LiveChains, startLiveChains } from '../../../dev/support/live-chains.ts';
import { QUICK } from '../../../dev/support/live-gateway.ts';
import type { Json, LiveMoney } from '../../../dev/support/live-money.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { decideToFail } from '../../../src/services/deposits/operator.ts';
import { listStuck } from '../../../src/services/deposits/stuck.ts';
import { type Stalling, stallingBsc, stallingTron } from '../support/stalling.ts';

/** So far behind the head is what nothing can replace; more blocks than Tron asks for together. */
const FINAL_DISTANCE = 24;
const CONFIRMED = 16;

/** An endpoint names a block as final that is replaced afterwards. */
describe('a completed deposit whose block is replaced', function () {
  this.timeout(120_000);
  let chains: LiveChains;
  let live: LiveMoney;
  let proxy: FaultProxy;
  let stalling: Readonly<Record<Network, Stalling>>;

  before(async () => {
    proxy = await startFaultProxy('http://127.0.0.1:1');
    chains = await startLiveChains({
      settings: QUICK,
      // What the tests break on purpose would be logged as errors.
      env: { LOG_LEVEL: 'fatal' },
      chain: { slotsInAnEpoch: FINAL_DISTANCE / 2 },
      tron: { solidDistance: FINAL_DISTANCE },
      rpcUrls: (chain) => {
        proxy.target = chain.url;
        return proxy.url;
      },
    });
    live = chains.live;
    stalling = { bsc: stallingBsc(live.chain, proxy), tron: stallingTron(chains.node) };
    // The first block is chosen by what is final then.
    await eventually('a watcher of each', async () => (await cursors()) === 2);
  });
  after(async () => {
    await chains?.stop();
    await proxy?.stop();
  });

  const cursors = async (): Promise<number> =>
    (await live.gateway.deps.orm.em.fork().execute('select 1 from chain_cursors')).length;
  const rowOf = async (hash: string): Promise<Json> => (await live.deposits(hash))[0] ?? {};
  const eventsOf = (hash: string) =>
    live
      .events()
      .filter((item) => item.data['transaction_hash'] === hash)
      .map((item) => item.event);

  for (const network of ['tron', 'bsc'] as const)
    it(`is never taken back by itself on ${network}: an operator decides when finality broke under it`, async () => {
      const { deps } = live.gateway;
      const chain = chains[network];
      const balance = async () => await live.ledger('USDT', network);
      const before = await balance();
      stalling[network].hasty();
      const units = 40n * chain.usdtUnit;
      const hash = await chain.pay({ currency: 'USDT', units });
      await chain.mine(CONFIRMED);
      await live.eventOf('deposit.completed', hash);
      stalling[network].heal();
      await chain.replace(CONFIRMED + 2);
      await chain.mine(2 * FINAL_DISTANCE);
      await eventually('the deposit without a block', async () => (await rowOf(hash))['block_hash'] === null);
      const row = await rowOf(hash);
      expect(row).to.include({ status: 'completed', failure_code: null });
      await eventually('the alarm', async () => (await rowOf(hash))['alarmed_at'] !== null);
      const credited = (await balance())['available'] ?? 0n;
      expect(credited - (before['available'] ?? 0n), 'nothing is taken back in silence').to.equal(units);
      expect(eventsOf(hash)).to.not.include('deposit.failed');
      const stuck = (await listStuck(deps)).find((item) => item.transaction_hash === hash);
      expect(stuck?.reason).to.match(/^finality broke: block \d+, which held it, was replaced$/);
      expect(stuck?.action).to.match(/deposit fail/);
      await decideToFail(deps, { depositId: String(row['id']), by: 'Ann', reason: 'gone from the chain' });
      const failed = await live.eventOf('deposit.failed', hash);
      expect(failed).to.include({ failure_code: 'REORGED', failure_reason: 'gone from the chain' });
      expect((await balance())['available'] ?? 0n).to.equal(before['available'] ?? 0n);
      expect((await balance())['chain'] ?? 0n).to.equal(before['chain'] ?? 0n);
    });
});
