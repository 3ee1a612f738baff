import { Migration } from '@mikro-orm/migrations';
import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { MIGRATIONS } from '../../migrations/index.ts';
import { migrate, requireCurrentSchema } from '../../src/app/migrate.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';

const INDEX = 'deposits_later_index';
const INDEXING = 'Migration20991231000001_indexing';
const LOCKING = 'Migration20991231000002_locking';

/** As a later version brings it: an index of a grown table is built while the service runs. */
class Indexing extends Migration {
  override isTransactional(): boolean {
    return false;
  }
  override up(): void {
    this.addSql(`create index concurrently if not exists ${INDEX} on deposits (state_since, id)`);
  }
}

/** A change of a table that keeps everybody else from it. */
class Locking extends Migration {
  override up(): void {
    this.addSql('lock table outbox in access exclusive mode');
  }
}

describe('a migration', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let orm: Orm;
  before(async () => {
    MIGRATIONS.push({ name: INDEXING, class: Indexing }, { name: LOCKING, class: Locking });
    database = await freshDatabase();
    orm = await openOrm({ url: database.url, poolSize: 6, applicationName: 'test' });
  });
  after(async () => {
    MIGRATIONS.splice(-2);
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

  it('that somebody who reads for long keeps waiting keeps nobody else waiting, and is made afterwards', async () => {
    await sql(`delete from schema_migrations where name = '${LOCKING}'`);
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
    expect(await migrating).to.deep.equal([LOCKING]);
    await requireCurrentSchema(orm);
  });
});
