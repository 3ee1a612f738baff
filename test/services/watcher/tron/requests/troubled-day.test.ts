// What trouble that lasts for hours costs of the day's requests. The clock is moved, and the requests are
// those that the node counted.
import { expect } from 'chai';
import { eventually } from '../../../../../dev/support/eventually.ts';
import { when } from '../../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../../dev/tron/http/endpoint.ts';
import { createBudget } from '../../../../../src/chains/tron/budget.ts';
import { faultPauseMs } from '../../../../../src/services/watcher/heads/pace.ts';
import { pollChain } from '../../../../../src/services/watcher/poll.ts';
import { madeUpClock } from '../../../../chains/tron/endpoints/node.ts';
import { heal, paid, STRANGER, states } from '../scenes.ts';
import { startTronWatcher, type TronWatcher } from '../tron-watcher.ts';

const { signal } = new AbortController();
const HOUR_MS = 3_600_000;
const BLOCK_MS = 3_000;
const PER_DAY = 150;
const MIDNIGHT = Date.UTC(2026, 10, 24);

const noInfos: TronFault = when(
  ({ path }) => path.endsWith('/gettransactioninfobyblocknum'),
  () => ({ status: 500, body: 'Internal Server Error' }),
);

describe('trouble on Tron that lasts for hours', function () {
  this.timeout(180_000);
  let live: TronWatcher;
  const clock = madeUpClock(23.5 * HOUR_MS);
  const date = () => MIDNIGHT + clock.now();
  const budget = createBudget({ perDay: PER_DAY, perSecond: 15, ...clock, date });
  before(async () => {
    live = await startTronWatcher({ budget, clock });
    await live.catchUp();
    // Some that are read once when it begins, and one that is not.
    for (let blocks = 0; blocks < 4; blocks += 1) {
      await live.node.pay({ to: STRANGER, currency: 'TRX', units: 1n });
      await live.node.mine();
    }
    await live.catchUp();
  });
  after(() => live?.stop());

  /** Polls as a worker does, with its pauses; returns how many requests reached the node. */
  async function pollFor(ms: number): Promise<number> {
    const before = live.endpoint.requests.length;
    const { used } = budget.today();
    const until = clock.now() + ms;
    let nextBlockMs = clock.now() + BLOCK_MS;
    let faults = 0;
    while (clock.now() < until) {
      const blocks = Math.floor((clock.now() - nextBlockMs) / BLOCK_MS) + 1;
      if (blocks > 0) await live.node.mine(blocks);
      nextBlockMs += Math.max(0, blocks) * BLOCK_MS;
      try {
        await pollChain(live.deps, live.watchedChain, signal);
        faults = 0;
        await clock.pause(BLOCK_MS);
      } catch {
        faults += 1;
        await clock.pause(faultPauseMs(live.watchedChain.reader.pace, faults));
      }
    }
    // A poll ends with the first question that fails. Another one may be under way then: it was counted, and
    // reaches the node a moment later.
    await eventually(
      'every request that was counted reaching the node',
      () => live.endpoint.requests.length - before >= budget.today().used - used,
    );
    return live.endpoint.requests.length - before;
  }

  it('never takes more than the day allows, and goes on at midnight', async () => {
    live.endpoint.fault = noInfos;
    const { address } = await paid(live, { currency: 'USDT', units: 96n });
    await pollFor(0.35 * HOUR_MS);
    expect(budget.today().used).to.equal(PER_DAY);
    expect(live.endpoint.requests.length, 'of the whole day').to.equal(PER_DAY);
    heal(live);
    expect(await pollFor(0.05 * HOUR_MS), 'although all is well again').to.equal(0);
    await pollFor(0.15 * HOUR_MS);
    expect(budget.today().day).to.equal('2026-11-25');
    expect(live.endpoint.requests.length - PER_DAY).to.equal(budget.today().used);
    expect(states(await live.deposits(address))).to.deep.equal(['96 USDT verified']);
  });
});
