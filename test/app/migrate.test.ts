import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { MIGRATIONS } from '../../migrations/index.ts';
import { migrate, requireCurrentSchema } from '../../src/app/migrate.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';

const INDEXING = 'Migration20261121000017_alarm_indexes';
const INDEX = 'deposits_standing_index';
const BY_MONTHS = 'Migration20261121000028_due_deliveries';
const DUE = 'webhook_deliveries_due_index';

describe('a migration', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let orm: Orm;
  before(async () => {
    database = await freshDatabase();
    orm = await openOrm({ url: database.url, poolSize: 6, applicationName: 'test' });
  });
  after(async () => {
    await orm?.close(true);
    await database?.drop();
  });

  const sql = async <T = Record<string, unknown>>(text: string) => await orm.em.fork().execute<T[]>(text);
  const isValid = async () =>
    (
      await sql<{ valid: boolean }>(
        `select indisvalid as valid from pg_index where indexrelid = to_regclass('${INDEX}')`,
      )
    )[0]?.valid;

  /** As if the version before had left the database: one index is missing. */
  async function lackIndex(): Promise<void> {
    await sql(`drop index if exists ${INDEX}`);
    await sql(`delete from schema_migrations where name = '${INDEXING}'`);
  }

  /** Somebody reads for long; an index that is built beside the traffic has to wait for that. */
  async function whileReading<T>(work: () => Promise<T>): Promise<T> {
    const em = orm.em.fork();
    await em.begin({ isolationLevel: 'repeatable read' as never });
    await em.execute('select count(*) from deposits');
    try {
      return await work();
    } finally {
      await em.rollback();
    }
  }

  it('that two processes begin at once is made once', async () => {
    const lines: string[] = [];
    const both = await Promise.all([
      migrate(orm, (line) => lines.push(line)),
      migrate(orm, (line) => lines.push(line)),
    ]);
    expect(both.map((applied) => applied.length).sort((one, other) => one - other)).to.deep.equal([
      0,
      MIGRATIONS.length,
    ]);
    expect(lines.filter((line) => /^Another migration is running/.test(line))).to.have.length(1);
    expect(lines).to.include(`Applying ${INDEXING}…`);
    await requireCurrentSchema(orm);
  });

  it('builds an index beside the traffic, says how far it is, and has no limit of time', async () => {
    await lackIndex();
    const lines: string[] = [];
    const running = whileReading(async () => {
      const migrating = migrate(orm, (line) => lines.push(line));
      await eventually(
        'its progress',
        () => lines.some((line) => line.startsWith(`Building ${INDEX}: `)),
        60_000,
      );
      const [limits] = await sql<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where application_name = 'gateway migrate'
          and query like 'create index%' and state = 'active'`,
      );
      expect(limits?.n).to.equal(1);
      // Nobody who writes waits for it.
      await sql(`set lock_timeout = '1s'; update deposits set updated_at = now()`);
      return { migrating };
    });
    const { migrating } = await running;
    expect(await migrating).to.deep.equal([INDEXING]);
    expect(await isValid()).to.equal(true);
  });

  it('that was killed half-way is finished by the next one', async () => {
    await lackIndex();
    await whileReading(async () => {
      const killed = migrate(orm).catch((error: Error) => error);
      await eventually('the index in the making', async () => (await isValid()) === false, 60_000);
      await sql(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gateway migrate'
          and query like 'create index%' and datname = current_database()`,
      );
      expect(await killed).to.be.instanceOf(Error);
    });
    expect(await isValid()).to.equal(false);
    const lines: string[] = [];
    expect(await migrate(orm, (line) => lines.push(line))).to.deep.equal([INDEXING]);
    expect(lines).to.include(`Dropping ${INDEX}, which an earlier run left half-built…`);
    expect(await isValid()).to.equal(true);
  });

  it('of an index by months that was killed is finished by the next one, also where a month was made meanwhile', async () => {
    const [source] = await sql<{ indexdef: string }>(
      `select indexdef from pg_indexes where indexname = '${DUE}'`,
    );
    await sql(`drop index ${DUE}`);
    await sql(`delete from schema_migrations where name = '${BY_MONTHS}'`);
    await sql(source?.indexdef ?? '');
    await sql(
      `select make_months(m.next, m.next)
        from (select (max(first_month) + interval '1 month')::date as next from partition_months) m`,
    );
    expect(await migrate(orm)).to.deep.equal([BY_MONTHS]);
    const indexes = await sql<{ months: number; valid: boolean }>(
      `select (select count(*)::int from pg_index c join pg_inherits m on m.inhrelid = c.indrelid
                 where m.inhparent = 'webhook_deliveries'::regclass
                   and pg_get_indexdef(c.indexrelid) like '%(next_attempt_at, id)%') -
              (select count(*)::int from pg_inherits
                where inhparent = 'webhook_deliveries'::regclass) as months, i.indisvalid as valid
       from pg_index i where i.indexrelid = '${DUE}'::regclass`,
    );
    expect(indexes).to.deep.equal([{ months: 0, valid: true }]);
  });

  it('that somebody who reads for long keeps waiting keeps nobody else waiting, and is made afterwards', async () => {
    const name = 'Migration20261122000038_test_mode_apart';
    await sql(`delete from schema_migrations where name = '${name}'`);
    const dump = orm.em.fork();
    await dump.begin({ isolationLevel: 'repeatable read' as never });
    await dump.execute('select count(*) from outbox');
    const others = await openOrm({ url: database.url, poolSize: 1, applicationName: 'others' });
    const lines: string[] = [];
    const migrating = migrate(orm, (line) => lines.push(line));
    const steps = () => lines.filter((line) => /^A table is in use for long/.test(line)).length;
    try {
      await eventually('its first step aside', () => steps() > 0, 60_000);
      // The limit under which the money's own statements wait for a lock is 5 s.
      for (const seen = steps(); steps() < seen + 1; )
        await others.em.fork().execute('select count(*) from outbox');
    } finally {
      await dump.rollback();
      await others.close(true);
    }
    expect(await migrating).to.deep.equal([name]);
    await requireCurrentSchema(orm);
  });
});
