import { expect } from 'chai';
import { BudgetSpent, RpcUnavailable } from '../../../../src/chains/rpc/errors.ts';
import { type BudgetOptions, createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool, type TronPool, type TronPoolOptions } from '../../../../src/chains/tron/protocol.ts';
import { GENESIS, madeUpClock, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();
const NOON = Date.UTC(2026, 10, 23, 12);
const MIDNIGHT = Date.UTC(2026, 10, 24);
const SPENT =
  'tron: the 1,000 requests of 2026-11-23 are used up: it goes on at 2026-11-24T00:00:00.000Z; where the key allows more, raise TRON_REQUESTS_PER_DAY';

describe('the budget of a key', () => {
  let dateMs = NOON;
  beforeEach(() => {
    dateMs = NOON;
  });
  const budgetOf = (options: Partial<BudgetOptions> = {}) =>
    createBudget({ perDay: 1_000, perSecond: 1_000_000, date: () => dateMs, ...options });
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => new Error('it succeeded'),
      (failure: unknown) => failure,
    );

  async function take(budget: ReturnType<typeof budgetOf>, times: number): Promise<number> {
    const taken = await Promise.allSettled(Array.from({ length: times }, () => budget.take(signal)));
    return taken.filter(({ status }) => status === 'fulfilled').length;
  }

  it('counts the requests of a day, and can be read', async () => {
    const budget = budgetOf();
    const day = { day: '2026-11-23', limit: 1_000, endsAt: new Date(MIDNIGHT) };
    expect(budget.today()).to.deep.equal({ ...day, used: 0 });
    await take(budget, 7);
    expect(budget.today()).to.deep.equal({ ...day, used: 7 });
  });

  it('is never exceeded by requests that come at once, and says when it goes on', async () => {
    const clock = madeUpClock();
    const budget = budgetOf({ perSecond: 100, ...clock });
    expect(await take(budget, 1_200)).to.equal(1_000);
    const failure = await failureOf(budget.take(signal));
    expect(failure).to.be.instanceOf(BudgetSpent).and.instanceOf(RpcUnavailable);
    expect(failure).to.include({ name: 'BudgetSpent', message: SPENT });
    expect((failure as BudgetSpent).goesOnAt).to.deep.equal(new Date(MIDNIGHT));
    expect(budget.today().used).to.equal(1_000);
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
    const budget = budgetOf({
      perSecond: 1,
      now: () => 0,
      pause: async () => {
        dateMs = MIDNIGHT + 5;
      },
    });
    await take(budget, 1);
    expect(budget.today()).to.include({ day: '2026-11-23', used: 1 });
    await take(budget, 1);
    expect(budget.today()).to.include({ day: '2026-11-24', used: 1 });
  });

  it('gives nothing back for a clock that is put back', async () => {
    const budget = budgetOf();
    dateMs = MIDNIGHT + 1;
    await take(budget, 900);
    dateMs = MIDNIGHT - 1;
    expect(budget.today()).to.include({ day: '2026-11-23', used: 900 });
    expect(await take(budget, 200)).to.equal(100);
    dateMs = MIDNIGHT + 1;
    expect(await take(budget, 1)).to.equal(1);
  });

  it('lets no second have more than it allows, also after a quiet time', async () => {
    const clock = madeUpClock();
    const budget = budgetOf({ perSecond: 15, ...clock });
    const sentAt: number[] = [];
    for (let sent = 0; sent < 100; sent++) {
      if (sent === 40) await clock.pause(60_000);
      await budget.take(signal);
      sentAt.push(clock.now());
    }
    for (const from of sentAt)
      expect(sentAt.filter((at) => at >= from && at < from + 1_000 - 1e-6)).to.have.length.at.most(15);
    expect(clock.now()).to.be.within(60_000 + 97_000 / 15, 60_000 + 100_000 / 15);
  });

  it('is waited for no longer than the caller waits', async () => {
    const budget = budgetOf({ perSecond: 0.001 });
    await budget.take(signal);
    const gone = new AbortController();
    const waiting = failureOf(budget.take(gone.signal));
    gone.abort(new Error('the caller has gone'));
    expect(await waiting).to.include({ message: 'the caller has gone' });
    expect(await failureOf(budget.take(gone.signal))).to.include({ message: 'the caller has gone' });
    expect(budget.today().used).to.equal(1);
  });

  describe('over two endpoints', () => {
    let first: TestNode;
    let second: TestNode;
    before(async () => {
      first = await startNode();
      second = await startNode();
    });
    after(() => {
      first?.stop();
      second?.stop();
    });
    beforeEach(() => {
      for (const node of [first, second]) {
        Object.assign(node, { fault: undefined, genesis: GENESIS });
        node.asked.length = 0;
      }
    });

    const reports: string[] = [];
    function scene(perDay: number, options: Partial<TronPoolOptions> = {}) {
      reports.length = 0;
      const clock = madeUpClock();
      const budget = budgetOf({ perDay, ...clock });
      const pool = createTronPool({
        name: 'tron',
        urls: [first.url, second.url],
        budget,
        genesis: createGenesis({ usdtContract: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ' }),
        probeEveryMs: 1_000_000_000,
        report: (message) => reports.push(message),
        ...clock,
        ...options,
      });
      return { clock, budget, pool, sent: () => first.asked.length + second.asked.length };
    }
    const head = (pool: TronPool) => pool.run((session) => session.call('wallet/getnowblock', {}), signal);

    it('counts what was sent to any of them, answered or not', async () => {
      const { budget, pool, sent } = scene(1_000);
      await pool.checkChain(signal);
      await pool.each((session) => session.solidity('walletsolidity/getnowblock', {}), signal);
      first.fault = () => ({ status: 503, text: '' });
      await head(pool);
      expect(sent()).to.be.at.least(6);
      expect(budget.today().used).to.equal(sent());
    });

    it('counts a request that is sent again because the connection was closed, and sends none beyond it', async () => {
      const { budget, pool, sent } = scene(1_000);
      await pool.checkChain(signal);
      first.fault = () => 'reset';
      await head(pool);
      expect(first.count('getnowblock'), 'sent twice').to.equal(2);
      expect(budget.today().used).to.equal(sent());
      // Two for the chain, one for the other one’s head.
      const last = scene(4);
      first.fault = undefined;
      await last.pool.checkChain(signal);
      first.asked.length = 0;
      first.fault = () => 'reset';
      const failure = await failureOf(head(last.pool));
      expect(failure).to.be.instanceOf(BudgetSpent);
      expect(first.count('getnowblock'), 'only one was left').to.equal(1);
      expect(last.pool.status().map(({ problem }) => problem)).to.deep.equal([null, null]);
    });

    it('ends for all of them together: nothing is sent, nobody is blamed, and the next day it goes on', async () => {
      const { clock, pool, budget, sent } = scene(1_000);
      await pool.checkChain(signal);
      while (budget.today().used < 1_000) await budget.take(signal);
      const before = sent();
      clock.pauses.length = 0;
      const failure = await failureOf(head(pool));
      expect(failure).to.be.instanceOf(BudgetSpent).and.include({ message: SPENT });
      expect(clock.pauses, 'a caller that asks again at once is slowed down').to.deep.equal([1_000]);
      expect(await failureOf(pool.all((session) => session.call('wallet/getnowblock', {}), signal)))
        .to.be.instanceOf(BudgetSpent)
        .and.include({ message: SPENT });
      expect(clock.pauses).to.deep.equal([1_000, 1_000]);
      expect(
        await failureOf(pool.aside((session) => session.call('wallet/getnowblock', {}), signal)),
      ).to.be.instanceOf(BudgetSpent);
      expect(sent()).to.equal(before);
      expect(pool.status().map(({ problem }) => problem)).to.deep.equal([null, null]);
      expect(reports).to.deep.equal([]);
      dateMs = MIDNIGHT;
      expect(await head(pool)).to.have.property('blockID');
      expect(first.count('getnowblock'), 'the first endpoint is asked as before').to.equal(1);
      expect(budget.today().used).to.equal(1);
    });

    it('is told by diagnosis for each of them, and is no reason for an extra to fail', async () => {
      const { pool, budget } = scene(1_000);
      await pool.checkChain(signal);
      while (budget.today().used < 1_000) await budget.take(signal);
      const call = (session: Parameters<Parameters<TronPool['each']>[0]>[0]) =>
        session.call('wallet/getnowblock', {});
      expect(await pool.each(call, signal)).to.deep.equal([
        { host: first.host, problem: SPENT },
        { host: second.host, problem: SPENT },
      ]);
      expect(await pool.elsewhere(0, call, signal)).to.equal(undefined);
    });

    it('is named where not even the chain of an endpoint can be asked for', async () => {
      const { clock, pool } = scene(0);
      const failure = await failureOf(pool.checkChain(signal));
      expect(failure).to.be.instanceOf(BudgetSpent);
      expect(clock.pauses, 'a caller that asks again at once is slowed down').to.deep.equal([1_000]);
      expect(pool.status().map(({ problem }) => problem)).to.deep.equal([null, null]);
      expect((failure as Error).message).to.match(/^tron: the 0 requests of 2026-11-23 are used up/);
    });
  });
});
