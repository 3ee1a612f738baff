import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase } from '../../../dev/support/parts.ts';
import { MIGRATIONS } from '../../../migrations/index.ts';
import { migrate } from '../../../src/app/migrate.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';

const NAME = 'Migration20261126000068_address_pages';
const BEFORE = MIGRATIONS[MIGRATIONS.findIndex(({ name }) => name === NAME) - 1]?.name ?? '';
const CUSTOMERS = 1_700;
/** Of the last batch. */
const LOCKED = 7 * (CUSTOMERS - 10);

describe('customers from before they had a page', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let orm: Orm;
  const merchant = randomUUID();
  before(async () => {
    database = await freshDatabase();
    orm = await openOrm({ url: database.url, poolSize: 4, applicationName: 'pages-migration-test' });
    await orm.migrator.up({ to: BEFORE });
    await sql(
      `insert into merchants (id, name, subscription_active, created_at, updated_at)
       values (?, 'Shop', true, now(), now())`,
      [merchant],
    );
    await sql(
      `insert into customers (id, merchant_id, mode, external_id, metadata, wallet_index, created_at, updated_at)
       select gen_random_uuid(), ?, 'live', 'user-' || n, '{}', n * 7, now(), now()
       from generate_series(1, ${CUSTOMERS}) n`,
      [merchant],
    );
    await sql("update customers set external_id = 'erased-' || id where wallet_index = 70");
  });
  after(async () => {
    await orm?.close(true);
    await database?.drop();
  });
  const sql = async <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    await orm.em.fork().execute<T[]>(text, values);
  /** The wallet indexes of those without a page; all of them where there is no column yet. */
  const missing = async () =>
    (
      await sql<{ index: number }>(
        `select wallet_index as index from customers c
         where to_jsonb(c)->>'page_token' is null order by 1`,
      )
    ).map(({ index }) => index);

  it('get one while they are credited, whoever is locked last, and after a run that was killed', async () => {
    // Each batch takes its time, so that somebody is credited between two of them.
    await sql(`create function take_time() returns trigger language plpgsql as
      'begin perform pg_sleep(0.5); return null; end'`);
    await sql('create trigger slow before update on customers execute function take_time()');
    const killed = migrate(orm).catch((error: Error) => error);
    const crediting = orm.em.fork();
    await eventually('the first batch', async () => (await missing()).length < CUSTOMERS);
    await crediting.begin();
    await crediting.execute(`select id from customers where wallet_index = ${LOCKED} for no key update`);
    await eventually('all but the locked and the erased one', async () => (await missing()).length === 2);
    expect(await missing()).to.deep.equal([70, LOCKED]);
    await sql(
      `begin; set local lock_timeout = '200ms';
       select id from customers where wallet_index <> ${LOCKED} for no key update; commit`,
    );
    await sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gateway migrate'
         and datname = current_database() and query like 'do $$%' and state = 'active'`,
    );
    expect(await killed).to.be.instanceOf(Error);
    const again = migrate(orm);
    await crediting.commit();
    expect(await again).to.include(NAME);
    expect(await missing()).to.deep.equal([70]);
    await sql('drop function take_time cascade');
  });

  it('are held to the same constraints as new ones, proven, and can go back and forth', async () => {
    const constraints = async () =>
      await sql(
        `select conname as name, convalidated as proven from pg_constraint
         where conrelid = 'customers'::regclass and conname ~ 'page' order by 1`,
      );
    const proven = [
      'customers_erased_page_check',
      'customers_page_token_check',
      'customers_page_token_unique',
    ];
    expect(await constraints()).to.deep.equal(proven.map((name) => ({ name, proven: true })));
    const tokens = await sql<{ n: number }>('select count(distinct page_token)::int as n from customers');
    expect(tokens[0]?.n).to.equal(CUSTOMERS - 1);
    await orm.migrator.down({ to: BEFORE });
    expect(await constraints()).to.deep.equal([]);
    expect((await migrate(orm))[0]).to.equal(NAME);
    expect(await constraints()).to.deep.equal(proven.map((name) => ({ name, proven: true })));
    expect(await missing()).to.deep.equal([70]);
  });
});
