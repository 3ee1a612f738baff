import { expect } from 'chai';
import { BudgetSpent, RpcUnavailable } from '../../../../src/chains/rpc/errors.ts';
import { type BudgetOptions, createBudget } from '../../../../src/chains/tron/budget.ts';
import type { TronPool } from '../../../../src/chains/tron/protocol.ts';
import { failureOf } from '../../conformance/scene.ts';
import { madeUpClock, poolOf, type TestNode, testNodes } from './node.ts';

const { signal } = new AbortController();
const NOON = Date.UTC(2026, 10, 23, 12);
const MIDNIGHT = Date.UTC(2026, 10, 24);
const SPENT =
  'tron: the 1,000 requests of 2026-11-23 are used up: it goes on at 2026-11-24T00:00:00.000Z; where the key allows more, raise TRON_REQUESTS_PER_DAY';

describe('the budget of a key', () => {
  let dateMs: number;
  let clock: ReturnType<typeof madeUpClock>;
  beforeEach(() => {
    dateMs = NOON;
    clock = madeUpClock();
  });
  const budgetOf = (options: Partial<BudgetOptions> = {}) =>
    createBudget({ perDay: 1_000, perSecond: 1_000_000, date: () => dateMs, ...clock, ...options });
  async function take(budget: ReturnType<typeof budgetOf>, times: number): Promise<number> {
    const taken = await Promise.allSettled(Array.from({ length: times }, () => budget.take(signal)));
    return taken.filter(({ status }) => status === 'fulfilled').length;
  }

  it('is never exceeded by requests that come at once, can be read, and says when it goes on', async () => {
    const budget = budgetOf({ perSecond: 100 });
    const day = { day: '2026-11-23', limit: 1_000, endsAt: new Date(MIDNIGHT) };
    expect(budget.today()).to.deep.equal({ ...day, used: 0 });
    expect(await take(budget, 1_200)).to.equal(1_000);
    const failure = await failureOf(budget.take(signal));
    expect(failure).to.be.instanceOf(BudgetSpent).and.instanceOf(RpcUnavailable);
    expect(failure).to.include({ name: 'BudgetSpent', message: SPENT });
    expect((failure as BudgetSpent).goesOnAt).to.deep.equal(new Date(MIDNIGHT));
    expect(budget.today()).to.deep.equal({ ...day, used: 1_000 });
  });

  it('begins again at midnight UTC, and not before', async () => {
    const budget = budgetOf();
    await take(budget, 1_000);
    dateMs = MIDNIGHT - 1;
    expect(await take(budget, 1)).to.equal(0);
    dateMs = MIDNIGHT;
    expect(budget.today()).to.include({ day: '2026-11-24', used: 0 });
    expect(await take(budget, 1_001)).to.equal(1_000);
    dateMs = MIDNIGHT + 3 * 86_400_000;
    expect(await take(budget, 1)).to.equal(1);
    expect(budget.today()).to.include({ day: '2026-11-27', used: 1 });
  });

  it('is one for all processes that share it, for as long as that day lasts', async () => {
    let sum = 0;
    const add = async ({ used }: { readonly used: number }) => (sum += used);
    const [one, other] = [budgetOf({ perSecond: 1_000 }), budgetOf({ perSecond: 1_000 })];
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

  describe('over two endpoints', () => {
    const nodes = testNodes(2);
    const reports: string[] = [];
    const scene = (perDay: number) => {
      reports.length = 0;
      const budget = budgetOf({ perDay });
      const report = (message: string): void => void reports.push(message);
      const pool = poolOf(nodes, {
        budget,
        report,
        probeEveryMs: 1_000_000_000,
        random: () => 0.5,
        ...clock,
      });
      const [first, second] = nodes as [TestNode, TestNode];
      return { budget, pool, first, second, sent: () => first.asked.length + second.asked.length };
    };
    const call = (session: Parameters<Parameters<TronPool['each']>[0]>[0]) =>
      session.call('wallet/getnowblock', {});
    const head = (pool: TronPool) => pool.run(call, signal);
    const problems = (pool: TronPool) => pool.status().flatMap(({ problem }) => problem ?? []);

    it('counts what was sent to any of them, answered or not, also once more on a new connection', async () => {
      const { budget, pool, sent, first } = scene(1_000);
      await pool.checkChain(signal);
      await pool.each((session) => session.solidity('walletsolidity/getnowblock', {}), signal);
      first.fault = () => 'reset';
      first.asked.length = 0;
      const before = budget.today().used - sent();
      await head(pool);
      expect(first.count('getnowblock'), 'sent twice').to.equal(2);
      expect(budget.today().used).to.equal(before + sent());
    });

    it('ends for all of them together: nothing is sent, nobody is blamed, and the next day it goes on', async () => {
      const { pool, budget, sent, first, second } = scene(1_000);
      await pool.checkChain(signal);
      await take(budget, 1_000);
      const before = sent();
      clock.pauses.length = 0;
      for (const work of [() => head(pool), () => pool.all(call, signal), () => pool.aside(call, signal)])
        expect(await failureOf(work()))
          .to.be.instanceOf(BudgetSpent)
          .and.include({ message: SPENT });
      expect(clock.pauses, 'a caller that asks again at once is slowed down').to.deep.equal([1_000, 1_000]);
      const problem = SPENT;
      expect(await pool.each(call, signal)).to.deep.equal([
        { host: first.host, problem },
        { host: second.host, problem },
      ]);
      expect(await pool.elsewhere(0, call, signal), 'no reason for an extra to fail').to.equal(undefined);
      expect([sent(), problems(pool), reports]).to.deep.equal([before, [], []]);
      dateMs = MIDNIGHT;
      expect(await head(pool)).to.have.property('blockID');
      expect(first.count('getnowblock'), 'the first endpoint is asked as before').to.equal(1);
      expect(budget.today().used).to.equal(1);
    });
  });
});
