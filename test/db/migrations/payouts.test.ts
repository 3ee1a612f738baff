import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../../dev/support/parts.ts';
import { MIGRATIONS } from '../../../migrations/index.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';

const NAME = 'Migration20261124000055_payouts';
const BEFORE = MIGRATIONS[MIGRATIONS.findIndex(({ name }) => name === NAME) - 1]?.name ?? '';

describe('a database from before there were payouts', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let orm: Orm;
  const [merchant, customer, old] = [randomUUID(), randomUUID(), randomUUID()];
  before(async () => {
    database = await freshDatabase();
    orm = await openOrm({ url: database.url, poolSize: 2, applicationName: 'payouts-migration-test' });
    await orm.migrator.up({ to: BEFORE });
    await sql(
      "insert into merchants (id, name, subscription_active, created_at, updated_at) values (?, 'Shop', true, now(), now())",
      [merchant],
    );
    await sql(
      `insert into customers (id, merchant_id, mode, external_id, metadata, wallet_index, created_at, updated_at)
       values (?, ?, 'test', 'u1', '{}', 1, now(), now())`,
      [customer, merchant],
    );
    await sql(
      `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
         transaction_hash, block_number, block_hash, amount_units, amount_usd_cents, status, state_since,
         generation, sequence, posting_count, simulated, required_confirmations, detected_at, created_at, updated_at)
       values (?, ?, ?, 'test', 'bsc', 'USDT', '0xA', 'a', 'h', 7, '0xB', 1000, 100, 'detected', now(), 1, 1, 1,
         true, 15, now(), now(), now())`,
      [old, merchant, customer],
    );
    for (const to of ['confirming', 'completed', 'settled'])
      await sql('update deposits set status = ?, sequence = sequence + 1 where id = ?', [to, old]);
    await sql(
      `insert into sent_transactions (id, network, hash, state, from_address, from_key, created_at, updated_at)
       values (gen_random_uuid(), 'bsc', 'f', 'foreign', 'a', 'a', now(), now())`,
    );
  });
  after(async () => {
    await orm?.close(true);
    await database?.drop();
  });
  const sql = async (text: string, values: unknown[] = []) =>
    await orm.em.fork().execute<Record<string, unknown>[]>(text, values);
  const shapes = async () =>
    await sql(
      `select 'column' as kind, table_name || '.' || column_name as name, data_type || is_nullable as what
         from information_schema.columns where table_schema = 'public'
       union all select 'index', indexname, indexdef from pg_indexes where schemaname = 'public'
       union all select 'trigger', tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid) from pg_trigger
         where not tgisinternal
       union all select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
         from pg_constraint where connamespace = 'public'::regnamespace
       union all select 'function', proname, prosrc from pg_proc where pronamespace = 'public'::regnamespace
       order by 1, 2, 3`,
    );

  it('becomes one with payouts, is what it was where that is taken back, and becomes it again', async () => {
    const was = await shapes();
    await orm.migrator.up({ to: NAME });
    const [deposit] = await sql('select * from deposits where id = ?', [old]);
    expect(deposit).to.include({ status: 'settled', payout_id: null, settled_units: null });
    const became = await shapes();
    await orm.migrator.down({ to: BEFORE });
    expect(await shapes()).to.deep.equal(was);
    await orm.migrator.up({ to: NAME });
    expect(await shapes()).to.deep.equal(became);
    expect(await sql('select hash, state from sent_transactions')).to.deep.equal([
      { hash: 'f', state: 'foreign' },
    ]);
  });

  it('is not taken back to that once there was a payout: the books need it', async () => {
    await sql(
      `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
         transaction_hash, block_number, block_hash, amount_units, amount_usd_cents, status, state_since,
         generation, sequence, posting_count, simulated, required_confirmations, detected_at, created_at, updated_at)
       select gen_random_uuid(), merchant_id, customer_id, mode, network, currency, address, address_key, 'h2',
         7, '0xB', 1000, 100, 'detected', now(), 1, 1, 1, true, 15, now(), now(), now() from deposits`,
    );
    for (const to of ['confirming', 'completed'])
      await sql("update deposits set status = ?, sequence = sequence + 1 where transaction_hash = 'h2'", [
        to,
      ]);
    const payout = randomUUID();
    await orm.em.fork().transactional(async (em) => {
      await em.execute(
        `insert into payouts (id, merchant_id, mode, simulated, network, currency, address, address_key, destination,
           gross_units, net_units, fee_units, transaction_hash, state, state_since, settled_at, created_at, updated_at)
         values (?, ?, 'test', true, 'bsc', 'USDT', '0xA', 'a', 'd', 1000, 1000, 1, 'p', 'settled', now(), now(),
           now(), now())`,
        [payout, merchant],
      );
      await em.execute(
        `update deposits set status = 'settled', sequence = sequence + 1, payout_id = ?, settled_units = 1000,
           settlement_fee_units = 1 where transaction_hash = 'h2'`,
        [payout],
      );
    });
    const became = await shapes();
    const refused = await orm.migrator.down({ to: BEFORE }).catch((error: unknown) => error);
    expect(String(refused)).to.include('Restore a backup');
    expect(await shapes()).to.deep.equal(became);
  });
});
