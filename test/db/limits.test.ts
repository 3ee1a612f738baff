import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';

/** What the server is told with each connection, so that a program that vanishes holds nothing for long. */
describe('the limits of a database connection', function () {
  this.timeout(30_000);
  let database: FreshDatabase;
  const opened: Orm[] = [];

  before(async () => {
    database = await freshDatabase();
  });
  after(async () => {
    for (const orm of opened) await orm.close(true);
    await database?.drop();
  });

  async function open(limits: Partial<Parameters<typeof openOrm>[0]> = {}): Promise<Orm> {
    const orm = await openOrm({ url: database.url, poolSize: 2, applicationName: 'limits', ...limits });
    opened.push(orm);
    return orm;
  }
  async function shown(orm: Orm): Promise<Record<string, number>> {
    const rows = await orm.em.fork().execute<{ name: string; setting: string }[]>(
      `select name, setting from pg_settings
         where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
         'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout',
           'client_connection_check_interval')`,
    );
    return Object.fromEntries(rows.map(({ name, setting }) => [name, Number.parseInt(setting, 10)]));
  }

  it('let a host that vanished hold a lock for 15 s at most, and a lock be waited for less long than a statement', async () => {
    const is = await shown(await open());
    const value = (name: string): number => is[name] ?? Number.NaN;
    expect(value('statement_timeout')).to.equal(15_000);
    expect(value('lock_timeout')).to.be.within(1, value('statement_timeout') - 1);
    expect(value('idle_in_transaction_session_timeout')).to.equal(10_000);
    // While a statement runs its end is noticed by the keep-alives,
    // and only then the clock of the idle transaction begins.
    const silentS =
      value('tcp_keepalives_idle') + value('tcp_keepalives_interval') * value('tcp_keepalives_count');
    const gone =
      Math.max(silentS * 1_000, value('tcp_user_timeout')) + value('client_connection_check_interval');
    expect(gone + value('idle_in_transaction_session_timeout')).to.be.at.most(15_000);
  });

  it('end a transaction in which nothing is asked any more, and the pool gets its place back', async () => {
    const orm = await open({ poolSize: 1, idleInTransactionMs: 300 });
    const em = orm.em.fork();
    await em.begin();
    await em.execute('create table begun (one int)');
    const other = await open();
    await eventually(
      'the end of the connection',
      async () =>
        (await other.em.fork().execute(`select 1 from pg_stat_activity where state = 'idle in transaction'`))
          .length === 0,
      5_000,
    );
    const failed = await em.commit().then(
      () => 'committed',
      (error: Error) => error.message,
    );
    expect(failed).to.match(/connection|idle-in-transaction/i);
    expect(await orm.em.fork().execute(`select to_regclass('begun') as found`)).to.deep.equal([
      { found: null },
    ]);
  });

  it('end the wait for a lock before the statement ends', async () => {
    const orm = await open({ lockTimeoutMs: 200 });
    const holder = orm.em.fork();
    await holder.begin();
    await holder.execute('select pg_advisory_xact_lock(1)');
    const error = await orm.em
      .fork()
      .execute('select pg_advisory_lock(1)')
      .then(
        () => undefined,
        (reason: Error) => reason,
      );
    await holder.rollback();
    expect(error?.message).to.match(/lock timeout/);
  });

  it('are none for whoever rebuilds the database, except that a vanished host is noticed', async () => {
    const is = await shown(await open({ statementTimeoutMs: 0 }));
    expect(is).to.include({ statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 });
    expect(is['tcp_user_timeout']).to.be.above(0);
  });
});
