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
    for (const budget of [one, other]) budget.sharedBy(add);
    expect(await take(one, 900)).to.equal(900);
    expect(await take(other, 50)).to.equal(50);
    expect([sum, other.today().used]).to.deep.equal([950, 950]);
    expect(await take(other, 200)).to.equal(50);
    expect(await take(one, 1)).to.equal(0);
    expect(one.today()).to.include({ day: '2026-11-23', used: 1_000 });
    dateMs = MIDNIGHT;
    expect(one.today()).to.include({ day: '2026-11-24', used: 0 });
  });

  it('adds again what could not be added, once, and is lowered by no sum', async () => {
    const budget = budgetOf();
    const added: number[] = [];
    let isAway = true;
    budget.sharedBy(async ({ used }) => {
      if (isAway) throw new Error('away');
      return added.push(used);
    });
    expect(await take(budget, 30), 'nothing waits for the sum').to.equal(30);
    isAway = false;
    await take(budget, 2);
    expect(added).to.deep.equal([31, 1]);
    expect(budget.today().used).to.equal(32);
  });

  it('does not wait for a sum that does not come', async () => {
    const budget = budgetOf();
    budget.sharedBy(() => new Promise(() => undefined));
    expect(await take(budget, 2)).to.equal(2);
    expect(budget.today().used).to.equal(2);
  });

  it('is never exceeded by all processes together, whenever they take, end without a word and start again', async () => {
    const steps = fc.array(
      fc.record({
        process: fc.integer({ min: 0, max: 3 }),
        does: fc.constantFrom('takes', 'takes', 'takes', 'is killed'),
        times: fc.integer({ min: 1, max: 400 }),
      }),
      { minLength: 5, maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 5_000 }), async (all, perDay) => {
        let sum = 0;
        let sent = 0;
        const start = () => {
          const budget = budgetOf({ perDay, perSecond: 15 });
          budget.sharedBy(async ({ used }) => {
            await Promise.resolve();
            sum += used;
            return sum;
          });
          return budget;
        };
        const processes = Array.from({ length: 4 }, start);
        const under: Promise<void>[] = [];
        for (const { process, does, times } of all) {
          const budget = processes[process];
          if (does === 'is killed' || !budget) processes[process] = start();
          else
            under.push(
              take(budget, times).then((taken) => {
                sent += taken;
              }),
            );
          if (times % 2 === 0) await under.at(-1);
        }
        await Promise.all(under);
        expect(sent).to.be.at.most(perDay);
        expect(sent, 'the sum is never less than what was sent').to.be.at.most(sum);
        // What a process that ended had taken and not sent is little.
        const asked = all.reduce((count, { does, times }) => count + (does === 'takes' ? times : 0), 0);
        expect(sent).to.be.at.least(Math.min(asked, perDay) - (all.length + 4) * 15);
      }),
      { numRuns: 60 },
    );
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
    budget.sharedBy(async ({ used }) => 39_999 + used);
    await take(budget, 1);
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
