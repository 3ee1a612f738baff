import { expect } from 'chai';
import fc from 'fast-check';
import { type BudgetOptions, createBudget, spareOf } from '../../../../src/chains/tron/budget.ts';
import { madeUpClock } from './node.ts';

const { signal } = new AbortController();
const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 10, 23, 12);
const MIDNIGHT = Date.UTC(2026, 10, 24);

describe('the count of a day', () => {
  let dateMs = NOON;
  beforeEach(() => {
    dateMs = NOON;
  });
  const budgetOf = (options: Partial<BudgetOptions> = {}) =>
    createBudget({ perDay: 1_000, perSecond: 1_000, date: () => dateMs, ...madeUpClock(), ...options });
  async function take(budget: ReturnType<typeof budgetOf>, times: number): Promise<number> {
    const taken = await Promise.allSettled(Array.from({ length: times }, () => budget.take(signal)));
    return taken.filter(({ status }) => status === 'fulfilled').length;
  }

  it('is one for all processes that share it, for as long as that day lasts', async () => {
    let sum = 0;
    const add = async ({ used }: { readonly used: number }) => (sum += used);
    const [one, other] = [budgetOf(), budgetOf()];
    await take(one, 900);
    await one.share(add);
    await take(other, 50);
    await other.share(add);
    expect([sum, other.today().used]).to.deep.equal([950, 950]);
    expect(await take(other, 200)).to.equal(50);
    await other.share(add);
    await one.share(add);
    expect(one.today()).to.include({ day: '2026-11-23', used: 1_000 });
    dateMs = MIDNIGHT;
    expect(one.today()).to.include({ day: '2026-11-24', used: 0 });
  });

  it('adds again what could not be added, once, and is lowered by no sum', async () => {
    const budget = budgetOf();
    await take(budget, 30);
    const failed = await budget
      .share(() => Promise.reject(new Error('away')))
      .catch((error) => error.message);
    expect(failed).to.equal('away');
    await take(budget, 5);
    const added: number[] = [];
    await budget.share(async ({ used }) => added.push(used));
    await budget.share(async ({ used }) => added.push(used));
    expect(added).to.deep.equal([35, 0]);
    expect(budget.today().used).to.equal(35);
  });

  it('is the same again for a clock that was put back and goes on', async () => {
    const budget = budgetOf();
    await take(budget, 300);
    dateMs = MIDNIGHT + 1;
    await take(budget, 900);
    dateMs = MIDNIGHT - 1;
    expect(await take(budget, 200)).to.equal(100);
    dateMs = MIDNIGHT + 1;
    expect(budget.today()).to.include({ day: '2026-11-24', used: 900 });
    expect(await take(budget, 200)).to.equal(100);
  });

  it('is not stopped for long by a clock that was a year ahead', async () => {
    const budget = budgetOf();
    dateMs = NOON + 365 * DAY_MS;
    expect(await take(budget, 1_000)).to.equal(1_000);
    dateMs = NOON;
    expect(await take(budget, 1)).to.equal(0);
    dateMs = MIDNIGHT;
    expect(await take(budget, 1)).to.equal(1);
  });

  it('tells what other work may use, which is what following does not need until it ends', async () => {
    const budget = budgetOf({ perDay: 100_000 });
    await budget.share(async () => 40_000);
    expect(budget.spare(92_000)).to.equal(14_000);
    expect(budget.spare(0)).to.equal(60_000);
    expect(budget.spare(200_000)).to.equal(0);
    dateMs = MIDNIGHT - 1;
    expect(budget.spare(92_000)).to.equal(59_999);
    dateMs = MIDNIGHT;
    expect(budget.spare(92_000)).to.equal(8_000);
  });

  it('never lets other work take what following needs, whenever and however much it asks', () => {
    const works = fc.array(
      fc.record({
        afterMs: fc.integer({ min: 0, max: DAY_MS / 4 }),
        wishes: fc.integer({ min: 0, max: 50_000 }),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(
        works,
        fc.integer({ min: 0, max: 150_000 }),
        fc.integer({ min: 0, max: DAY_MS - 1 }),
        (others, reservePerDay, beganMs) => {
          const day = { limit: 100_000, endsAt: new Date(DAY_MS) };
          const needed = (reservePerDay * (DAY_MS - beganMs)) / DAY_MS;
          const spent = { following: 0, other: 0 };
          let nowMs = beganMs;
          for (const { afterMs, wishes } of others) {
            nowMs = Math.min(nowMs + afterMs, DAY_MS - 1);
            spent.following = Math.min(
              day.limit - spent.other,
              Math.floor((reservePerDay * (nowMs - beganMs)) / DAY_MS),
            );
            const spare = spareOf({ ...day, used: spent.following + spent.other }, nowMs, reservePerDay);
            expect(Number.isSafeInteger(spare)).to.equal(true);
            spent.other += Math.min(wishes, spare);
          }
          expect(spent.other).to.be.at.most(Math.max(0, day.limit - Math.floor(needed)));
          // Following until the day ends finds its requests, where the whole limit was enough for it.
          if (needed <= day.limit) expect(spent.other + Math.floor(needed)).to.be.at.most(day.limit);
          else expect(spent.other).to.equal(0);
        },
      ),
      { numRuns: 500 },
    );
  });
});
