import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { type Gate, startGate } from '../support/http/gate.ts';

const STATEMENT_TIMEOUT_MS = 60_000;
const SILENCE_MS = 2_500;
const POOL = 2;

describe('a database connection whose other end vanished', function () {
  this.timeout(30_000);
  let database: FreshDatabase;
  let gate: Gate;
  let orm: Orm;

  beforeEach(async () => {
    [database, gate] = await Promise.all([freshDatabase(), startGate()]);
    gate.target(database.url);
    const { host } = new URL(gate.url);
    const url = new URL(database.url);
    url.host = host;
    const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, silenceMs: SILENCE_MS };
    orm = await openOrm({ url: url.href, poolSize: POOL, applicationName: 'half-open', ...limits });
  });
  afterEach(async () => {
    await orm?.close(true);
    await gate?.close();
    await database?.drop();
  });

  const ask = (sql = 'select 1 as one') => orm.em.fork().execute<{ one: number }[]>(sql);

  /** Every place of the pool can be had at the same time; a lost one would be waited for without end. */
  async function expectWholePool(): Promise<void> {
    const forks = Array.from({ length: POOL }, () => orm.em.fork());
    for (const em of forks) await em.begin();
    for (const em of forks) await em.rollback();
  }

  async function failure(work: Promise<unknown>): Promise<string> {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error, 'the query must fail').to.be.instanceOf(Error);
    return String(error);
  }

  it('fails the query in flight instead of keeping it for ever, and the pool works when the server is back', async () => {
    await ask();
    const flying = failure(ask('select pg_sleep(60)'));
    const watching = await openOrm({ url: database.url, poolSize: 1, applicationName: 'watching' });
    const running =
      "select 1 from pg_stat_activity where state = 'active' and query like '%pg_sleep(60)%' and application_name = 'half-open'";
    await eventually(
      'the statement runs',
      async () => (await watching.em.fork().execute(running)).length > 0,
    );
    await watching.close(true);
    gate.vanish();
    expect(await flying).to.match(/PostgreSQL was silent for 2.5 s/);
    gate.reappear();
    for (let count = 0; count < 2 * POOL; count += 1) expect(await ask()).to.deep.equal([{ one: 1 }]);
  });

  it('rolls a transaction back whose connection dies in the middle', async () => {
    await ask('create table money (units int)');
    const work = orm.em.fork().transactional(async (em) => {
      await em.execute('insert into money values (1)');
      gate.vanish();
      await em.execute('insert into money values (2)');
    });
    await failure(work);
    gate.reappear();
    expect(await ask('select count(*)::int as one from money')).to.deep.equal([{ one: 0 }]);
    await expectWholePool();
  });
});
