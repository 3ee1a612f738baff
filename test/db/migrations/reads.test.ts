import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase } from '../../../dev/support/parts.ts';
import { MIGRATIONS } from '../../../migrations/index.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';

const NAME = 'Migration20261125000062_reads';
const BEFORE = MIGRATIONS[MIGRATIONS.findIndex(({ name }) => name === NAME) - 1]?.name ?? '';

describe('a database from before days were kept', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let orm: Orm;
  const [merchant, customer] = [randomUUID(), randomUUID()];
  before(async () => {
    database = await freshDatabase();
    orm = await openOrm({ url: database.url, poolSize: 4, applicationName: 'reads-migration-test' });
    await orm.migrator.up({ to: BEFORE });
    await sql(
      `insert into merchants (id, name, subscription_active, created_at, updated_at)
       values (?, 'Shop', true, now(), now())`,
      [merchant],
    );
    await sql(
      `insert into customers (id, merchant_id, mode, external_id, metadata, wallet_index, created_at, updated_at)
       values (?, ?, 'test', 'u1', '{}', 1, now(), now())`,
      [customer, merchant],
    );
  });
  after(async () => {
    await orm?.close(true);
    await database?.drop();
  });
  const sql = async (text: string, values: unknown[] = []) =>
    await orm.em.fork().execute<Record<string, unknown>[]>(text, values);
  /** A deposit that goes through these states, completed at that time. */
  async function deposit(states: readonly string[], completedAt = '2026-11-20T23:59:59Z'): Promise<void> {
    const id = randomUUID();
    await sql(
      `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
         transaction_hash, block_number, block_hash, amount_units, amount_usd_cents, status, state_since,
         generation, sequence, posting_count, simulated, required_confirmations, detected_at, created_at, updated_at)
       values (?, ?, ?, 'test', 'bsc', 'USDT', '0xA', 'a', ?, 7, '0xB', 1000, 100, 'detected', now(), 1, 1, 1,
         true, 15, now(), now(), now())`,
      [id, merchant, customer, id],
    );
    for (const to of states)
      await sql(
        `update deposits set status = ?, sequence = sequence + 1, failure_code = case ? when 'failed' then 'REORGED' end,
           completed_at = case ? when 'completed' then ?::timestamptz else completed_at end where id = ?`,
        [to, to, to, completedAt, id],
      );
  }
  const days = async () =>
    (
      await sql(
        `select mode, day::text, sum(cents)::int as cents, sum(deposits)::int as deposits from (
           select mode, day, cents, deposits from daily_volumes
           union all select mode, day, cents, deposits from daily_volume_changes) d group by 1, 2 order by 2`,
      )
    ).map(({ mode, day, cents, deposits }) => [mode, day, cents, deposits]);

  const waiting = () =>
    sql(`select 1 from pg_locks where not granted and relation = 'daily_volumes'::regclass
      and database = (select oid from pg_database where datname = current_database())`);

  it('has the days of what was credited then and since, each once, and goes back and forth', async () => {
    await deposit(['confirming']);
    await deposit(['confirming', 'completed']);
    await deposit(['confirming', 'completed', 'failed']);
    await orm.migrator.up();
    expect(await days()).to.deep.equal([['test', '2026-11-20', 100, 1]]);
    await deposit(['confirming', 'completed']);
    await deposit(['confirming', 'completed'], '2026-11-21T00:00:00Z');
    const both = [
      ['test', '2026-11-20', 200, 2],
      ['test', '2026-11-21', 100, 1],
    ];
    expect(await days()).to.deep.equal(both);
    await orm.migrator.down({ to: BEFORE });
    expect(await sql(`select to_regclass('daily_volumes') as found`)).to.deep.equal([{ found: null }]);
    await orm.migrator.up();
    expect(await days()).to.deep.equal(both);
  });

  it('counts the days of before while deposits are completed, which wait for nothing', async () => {
    // As a run leaves it that was killed when the trigger stood and the days of before were not counted.
    await sql('delete from schema_migrations where name = ?', [NAME]);
    await sql('truncate daily_volumes, daily_volume_changes');
    let counting: Promise<unknown> = Promise.resolve();
    await orm.em.fork().transactional(async (holder) => {
      await holder.execute('lock table daily_volumes in access exclusive mode');
      counting = orm.migrator.up();
      await eventually('the count of the days', async () => (await waiting()).length > 0);
      await deposit(['confirming', 'completed'], '2026-11-22T00:00:00Z');
    });
    await counting;
    expect(await days()).to.deep.equal([
      ['test', '2026-11-20', 200, 2],
      ['test', '2026-11-21', 100, 1],
      ['test', '2026-11-22', 100, 1],
    ]);
  });

  it('is migrated to the end after a run that was killed behind any of its steps', async () => {
    await sql('delete from schema_migrations where name = ?', [NAME]);
    await orm.migrator.up();
    const invalid = await sql(`select indexrelid::regclass::text as name from pg_index where not indisvalid`);
    expect(invalid).to.deep.equal([]);
    expect((await days()).length).to.equal(3);
  });
});
