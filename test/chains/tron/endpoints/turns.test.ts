import { expect } from 'chai';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../../src/chains/tron/protocol.ts';
import { madeUpClock, startNode } from './node.ts';

const { signal } = new AbortController();

describe('the turns of a budget', () => {
  const budgetOf = (perSecond: number) => {
    const clock = madeUpClock();
    return { ...clock, budget: createBudget({ perDay: 100_000, perSecond, ...clock }) };
  };

  it('come in the order in which they were asked for, a thousand at once evenly spread', async () => {
    const { budget, now } = budgetOf(100);
    const sent: { place: number; atMs: number }[] = [];
    const takeAt = async (place: number): Promise<void> => {
      await budget.take(signal);
      sent.push({ place, atMs: Math.round(now()) });
    };
    await Promise.all(Array.from({ length: 1_000 }, (_, place) => takeAt(place)));
    expect(sent).to.deep.equal(Array.from({ length: 1_000 }, (_, place) => ({ place, atMs: 10 * place })));
    expect(budget.today().used).to.equal(1_000);
  });

  it('are lost to nobody who waits for them where others go away', async () => {
    const { budget, now, pauses } = budgetOf(10);
    const gone = new AbortController();
    await budget.take(signal);
    const left = Array.from({ length: 500 }, () => budget.take(gone.signal).catch((error: unknown) => error));
    const staying = [budget.take(signal), budget.take(signal)];
    expect(budget.spare(0), 'who waits will use it').to.equal(100_000 - 503);
    gone.abort(new Error('the caller has gone'));
    for (const reason of await Promise.all(left)) expect(reason).to.equal(gone.signal.reason);
    await Promise.all(staying);
    expect(Math.round(now()), 'the second and the third turn').to.equal(200);
    expect(pauses.length, 'waits').to.be.below(5);
    expect(budget.today().used).to.equal(3);
    expect(budget.spare(0), 'nobody waits any more').to.equal(100_000 - 3);
  });

  it('are left at once, also by one that waits behind others', async () => {
    const budget = createBudget({ perDay: 100_000, perSecond: 0.001 });
    await budget.take(signal);
    const others = new AbortController();
    const ahead = budget.take(others.signal).catch((error: unknown) => error);
    const gone = new AbortController();
    const behind = budget.take(gone.signal).catch((error: unknown) => error);
    gone.abort(new Error('the caller has gone'));
    expect(await behind).to.equal(gone.signal.reason);
    expect(budget.today().used).to.equal(1);
    others.abort();
    await ahead;
  });

  it('make up for a wait that ended late, and for no longer delay', async () => {
    let nowMs = 0;
    let lateMs = 4;
    const budget = createBudget({
      perDay: 100_000,
      perSecond: 10,
      now: () => nowMs,
      pause: async (ms) => {
        nowMs += ms + lateMs;
      },
    });
    for (let sent = 0; sent < 101; sent++) await budget.take(signal);
    expect(nowMs, 'a hundred intervals').to.be.within(10_000, 10_004 + 1e-6);
    lateMs = 500;
    const sentAt: number[] = [];
    for (let sent = 0; sent < 10; sent++) {
      await budget.take(signal);
      sentAt.push(nowMs);
    }
    const gaps = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
    expect(Math.min(...gaps), 'no bunch after a delay').to.be.at.least(90);
  });

  it('leave no queue at an endpoint either, where all who waited there went away', async () => {
    const node = await startNode();
    const pool = createTronPool({
      name: 'tron',
      urls: [node.url],
      budget: createBudget({ perDay: 100_000, perSecond: 15 }),
      genesis: createGenesis({ usdtContract: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ' }),
    });
    const head = (caller: AbortSignal) =>
      pool.run((session) => session.call('wallet/getnowblock', {}), caller);
    await head(signal);
    const gone = new AbortController();
    const left = Array.from({ length: 300 }, () => head(gone.signal).catch((error: unknown) => error));
    setTimeout(() => gone.abort(), 50);
    await Promise.all(left);
    const began = performance.now();
    await head(signal);
    expect(performance.now() - began).to.be.below(1_500);
    node.stop();
  });
});
