import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { MIGRATIONS } from '../../migrations/index.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';

const PARTITIONS = 'Migration20261121000020_partitions';

describe('the rows of a database without partitions', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let orm: Orm;
  before(async () => {
    database = await freshDatabase();
    orm = await openOrm({ url: database.url, poolSize: 2, applicationName: 'partitions-copy-test' });
  });
  after(async () => {
    await orm?.close(true);
    await database?.drop();
  });
  const sql = <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    orm.em.fork().execute<T[]>(text, values);

  it('are all there after the migration, with ids that are made of their facts, and the books with them', async () => {
    const before = MIGRATIONS[MIGRATIONS.findIndex(({ name }) => name === PARTITIONS) - 1]?.name ?? '';
    await orm.migrator.up({ to: before });
    const [merchant, customer, endpoint] = [randomUUID(), randomUUID(), randomUUID()];
    await sql(
      `insert into merchants (id, name, subscription_active, created_at, updated_at)
        values (?, 'Shop', true, now(), now())`,
      [merchant],
    );
    await sql(
      `insert into customers (id, merchant_id, mode, external_id, metadata, wallet_index, created_at,
        updated_at) values (?, ?, 'test', 'u', '{}', 1, now(), now())`,
      [customer, merchant],
    );
    await sql(
      `insert into webhook_endpoints (id, merchant_id, mode, url, events, enabled, secret_sealed, secret_hint,
       earlier_secrets, consecutive_failures, gone_count, created_at, updated_at)
       values (?, ?, 'test', 'https://shop.example', '{*}', true, '', 'x', '[]', 0, 0, now(), now())`,
      [endpoint, merchant],
    );
    await sql(
      `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
         transaction_hash, block_number, amount_units, status,
         state_since, generation, sequence, posting_count, simulated, required_confirmations, detected_at,
           created_at, updated_at)
       select gen_random_uuid(), ?, ?, 'test', 'bsc', 'USDT', 'a', 'a', n::text, 1, n, 'detected', at, 1, 1,
         1, true, 15, at, at, at
       from (select n, '2026-08-31T23:59:00Z'::timestamptz + n * interval '20 days' as at
         from generate_series(1, 6) n) days`,
      [merchant, customer],
    );
    await sql(
      `insert into deposit_transitions select id, 1, null, 'detected', 1, null, null, null, state_since
        from deposits`,
    );
    await sql(
      `with header as (insert into ledger_transactions (id, dedup_key, kind, deposit_id, created_at)
         select gen_random_uuid(), id || ':1', 'deposit.detected', id, created_at from deposits
           returning id, deposit_id)
       insert into ledger_entries (transaction_id, line, merchant_id, mode, network, currency, account,
         amount_units)
       select h.id, line, merchant_id, mode, network, currency,
         case line when 1 then 'chain' else 'pending' end,
         case line when 1 then -amount_units else amount_units end
       from header h join deposits d on d.id = h.deposit_id, generate_series(1, 2) line`,
    );
    await sql(
      `insert into events (id, merchant_id, mode, type, subject_id, dedup_key, body, occurred_at, created_at)
       select gen_random_uuid(), merchant_id, mode, 'deposit.detected', id, 'deposit:' || id || ':1',
         convert_to(id::text, 'UTF8'), state_since, state_since from deposits
       union all select gen_random_uuid(), ?, 'test', 'webhook.test', ?, 'webhook.test:' || n, '{}', now(),
         now() from generate_series(1, 3) n
       union all select gen_random_uuid(), ?, 'test', 'customer.created', ?, 'customer.created:' || ?::text,
         '{}', now(), now()`,
      [merchant, endpoint, merchant, customer, customer],
    );
    await sql(
      `insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, created_at,
       finished_at)
       select gen_random_uuid(), id, ?, type, 'succeeded', 1, created_at, created_at from events`,
      [endpoint],
    );
    await sql(
      `insert into webhook_attempts (delivery_id, round, number, started_at) select id, 1, 1, created_at
        from webhook_deliveries`,
    );

    await orm.migrator.up();

    const [counts] = await sql(
      `select (select count(*) from events)::int as events,
         (select count(*) from webhook_deliveries)::int as deliveries,
         (select count(*) from webhook_attempts)::int as attempts,
         (select count(*) from deposit_transitions)::int as transitions,
           (select count(*) from ledger_transactions)::int as postings,
           (select count(*) from ledger_entries)::int as lines`,
    );
    expect(counts).to.deep.equal({
      events: 10,
      deliveries: 10,
      attempts: 10,
      transitions: 6,
      postings: 6,
      lines: 12,
    });
    const bodies = await sql(
      `select 1 from events e join deposits d on d.id = e.subject_id
        where e.body = convert_to(d.id::text, 'UTF8') and e.sequence = 1`,
    );
    expect(bodies).to.have.length(6);
    const changes = await sql(
      'select 1 from balance_changes b join ledger_entries e using (transaction_id, line) where b.amount_units = e.amount_units',
    );
    expect(changes).to.have.length(12);
    const amounts = await sql(
      `select 1 from ledger_entries e join ledger_transactions t on t.id = e.transaction_id
       join deposits d on d.id = t.deposit_id
       where e.account = 'pending' and e.amount_units = d.amount_units and t.number = 1 and t.sequence = 1`,
    );
    expect(amounts).to.have.length(6);
    expect(
      await sql(`select 1 from pg_class where relname like 'old\\_%' and relkind in ('r', 'i')`),
    ).to.deep.equal([]);
  });
});
