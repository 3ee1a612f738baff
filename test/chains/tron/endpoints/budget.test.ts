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
const gone = new Error('the caller has gone');

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

  it('counts a request on the day in which its turn comes', async () => {
    const pause = async () => {
      dateMs = MIDNIGHT + 5;
    };
    const budget = budgetOf({ perSecond: 1, now: () => 0, pause });
    await take(budget, 1);
    expect(budget.today()).to.include({ day: '2026-11-23', used: 1 });
    await take(budget, 1);
    expect(budget.today()).to.include({ day: '2026-11-24', used: 1 });
  });

  it('gives turns in the order in which they were asked for, evenly spread, also after a quiet time', async () => {
    const budget = budgetOf({ perSecond: 100, perDay: 100_000 });
    const sent: { place: number; atMs: number }[] = [];
    const takeAt = async (place: number): Promise<void> => {
      await budget.take(signal);
      sent.push({ place, atMs: Math.round(clock.now()) });
    };
    await Promise.all(Array.from({ length: 1_000 }, (_, place) => takeAt(place)));
    expect(sent).to.deep.equal(Array.from({ length: 1_000 }, (_, place) => ({ place, atMs: 10 * place })));
    await clock.pause(60_000);
    for (let place = 0; place < 300; place++) await takeAt(place);
    const times = sent.map(({ atMs }) => atMs);
    for (const from of times)
      expect(times.filter((at) => at >= from && at < from + 1_000)).to.have.length.at.most(100);
  });

  it('is waited for no longer than the caller waits, also behind others, and loses nobody a turn', async () => {
    const budget = budgetOf({ perSecond: 10, perDay: 100_000 });
    const abort = new AbortController();
    await budget.take(signal);
    const left = Array.from({ length: 500 }, () => failureOf(budget.take(abort.signal)));
    const staying = [budget.take(signal), budget.take(signal)];
    expect(budget.spare(0), 'who waits will use it').to.equal(100_000 - 503);
    abort.abort(gone);
    expect(new Set(await Promise.all([...left, failureOf(budget.take(abort.signal))]))).to.eql(
      new Set([gone]),
    );
    await Promise.all(staying);
    expect(Math.round(clock.now()), 'the second and the third turn').to.equal(200);
    expect([budget.today().used, budget.spare(0)]).to.deep.equal([3, 100_000 - 3]);
    expect(clock.pauses.length, 'waits').to.be.below(5);
    // By the process's own clock: a wait that is left at once.
    const slow = createBudget({ perDay: 100_000, perSecond: 0.001 });
    await slow.take(signal);
    const [others, one] = [new AbortController(), new AbortController()];
    const ahead = failureOf(slow.take(others.signal));
    const behind = failureOf(slow.take(one.signal));
    one.abort(gone);
    expect(await behind).to.equal(gone);
    others.abort(gone);
    expect([await ahead, slow.today().used]).to.deep.equal([gone, 1]);
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

    it('pays little for an outage of all of them: one is asked in five seconds', async () => {
      const { pool, first, second, budget } = scene(10_000);
      for (const node of [first, second]) node.fault = () => ({ status: 503, text: '' });
      const endsMs = clock.now() + 300_000;
      while (clock.now() < endsMs) {
        await failureOf(head(pool));
        await clock.pause(20);
      }
      expect(budget.today().used).to.be.within(50, 110);
    });
  });
});
