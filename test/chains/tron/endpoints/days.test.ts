import { expect } from 'chai';
import { type BudgetOptions, createBudget } from '../../../../src/chains/tron/budget.ts';
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
    expect([added, budget.today().used]).to.deep.equal([[31, 1], 32]);
    budget.sharedBy(() => new Promise(() => undefined));
    expect(await take(budget, 2), 'nor for one that never comes').to.equal(2);
  });

  it('is never exceeded by all processes together, whenever they take, end without a word and start again', async () => {
    for (const perDay of [1, 400, 5_000]) {
      let [sum, sent, asked] = [0, 0, 0];
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
      for (let step = 0; step < 20; step++) {
        const place = (step * 7) % 4;
        if (step % 5 === 4) processes[place] = start();
        const times = 1 + ((step * 137) % 400);
        asked += times;
        const taken = take(processes[place] as ReturnType<typeof start>, times);
        under.push(
          taken.then((count) => {
            sent += count;
          }),
        );
        if (times % 2 === 0) await under.at(-1);
      }
      await Promise.all(under);
      expect(sent).to.be.at.most(perDay);
      expect(sent, 'the sum is never less than what was sent').to.be.at.most(sum);
      // What a process that ended had taken and not sent is little.
      expect(sent).to.be.at.least(Math.min(asked, perDay) - 8 * 15);
    }
  });

  it('gives nothing back for a clock that is put back, and is not stopped for long by one a year ahead', async () => {
    const budget = budgetOf();
    await take(budget, 300);
    dateMs = MIDNIGHT + 1;
    await take(budget, 900);
    dateMs = MIDNIGHT - 1;
    expect(budget.today()).to.include({ day: '2026-11-23', used: 900 });
    expect(await take(budget, 200)).to.equal(100);
    dateMs = MIDNIGHT + 1;
    expect(budget.today()).to.include({ day: '2026-11-24', used: 900 });
    const ahead = budgetOf();
    dateMs = NOON + 365 * DAY_MS;
    expect(await take(ahead, 1_000)).to.equal(1_000);
    dateMs = NOON;
    expect(await take(ahead, 1)).to.equal(0);
    dateMs = MIDNIGHT;
    expect(await take(ahead, 1)).to.equal(1);
  });

  it('tells what other work may use, which is what following does not need until it ends', async () => {
    const budget = budgetOf({ perDay: 100_000 });
    budget.sharedBy(async ({ used }) => 39_999 + used);
    await take(budget, 1);
    const spare = (atMs: number, reserve: number) => {
      dateMs = atMs;
      return budget.spare(reserve);
    };
    expect([92_000, 0, 200_000].map((reserve) => spare(NOON, reserve))).to.deep.equal([14_000, 60_000, 0]);
    expect([spare(MIDNIGHT - 1, 92_000), spare(MIDNIGHT, 92_000)]).to.deep.equal([59_999, 8_000]);
  });
});
