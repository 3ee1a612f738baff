import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { rows as rowsOf, sql as statement } from '../../../src/db/sql.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { takePageSql, takeSql } from '../../../src/services/outbox.ts';
import { pageSql } from '../../../src/services/repair/actors.ts';
import { overdueDeliveries } from '../../../src/services/webhooks/overdue.ts';
import { testDeps } from '../../support/gateway.ts';

const MANY = 20_000;
const ANY = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

/** What is asked again and again reads no table from end to end, with the planner's settings as they are. */
describe('repair and alarms among many rows', function () {
  this.timeout(240_000);
  let database: FreshDatabase;
  let deps: Deps;
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, [], { poolSize: 2 });
    await deps.orm.em.fork().transactional(async (em) => {
      await em.execute(`set local statement_timeout = '60s'`);
      await em.execute('set local session_replication_role = replica');
      for (const sql of SEED) await em.execute(sql);
    });
    for (const table of ['deposits', 'payment_links', 'outbox', 'webhook_deliveries']) await deps.orm.em.fork().execute(`analyze ${table}`);
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });

  const plan = async (sql: string, params: unknown[]) =>
    (await deps.orm.em.fork().execute<Record<string, string>[]>(`explain ${sql}`, params)).map((row) => row['QUERY PLAN']).join('\n');

  for (const [what, rows, index] of [
    [
      'waiting deposits',
      { from: 'deposits', where: `status in ('detected', 'confirming') and not simulated`, by: 'state_since' },
      'deposits_standing_index',
    ],
    [
      'open payment links',
      { from: 'payment_links', where: `status in ('pending', 'processing', 'partially_paid')`, by: 'expires_at' },
      'payment_links_ending_index',
    ],
  ] as const)
    it(`pages over ${what} by their index`, async () => {
      for (const at of [ANY.at, '2026-11-20T00:00:00Z']) {
        const found = await plan(pageSql(rows), [at, ANY.id]);
        expect(found).to.contain(index).and.not.contain('Seq Scan').and.not.contain('Sort');
      }
    });

  it('finds webhooks that are due and were not tried by an index', async () => {
    const at = new Date('2026-11-20T00:00:00Z');
    const page = pageSql({ from: 'webhook_deliveries', where: `status = 'pending'`, by: 'next_attempt_at' }, true);
    const em = deps.orm.em.fork();
    // The months ahead are empty, and may be read anyhow.
    const [{ month } = { month: '' }] = await em.execute<{ month: string }[]>(MONTH_SQL);
    const overdue = await rowsOf(em, statement`explain ${overdueDeliveries(at)}`);
    for (const found of [JSON.stringify(overdue), await plan(page, [ANY.at, ANY.id, at])])
      expect(found).to.not.contain(`Seq Scan on ${month} `);
  });

  it('has the index of due webhooks in every month', async () => {
    const sql = `select indisvalid as whole from pg_index where indexrelid = 'webhook_deliveries_due_index'::regclass`;
    expect(await deps.orm.em.fork().execute(sql)).to.deep.equal([{ whole: true }]);
  });

  it('takes the first due messages of the outbox by an index, whatever waits behind them', async () => {
    const now = new Date('2027-06-01T00:00:00Z');
    for (const [sql, index, param] of [
      [takeSql('fresh', 100), 'outbox_live_fresh_index', now],
      [takeSql('tried', 100), 'outbox_live_tried_index', now],
      [takeSql('test', 40), 'outbox_test_index', now],
      [takeSql('seldom', 10), 'outbox_seldom_index', now],
      [takePageSql(), 'outbox_quarantine_pages_index', '0'],
      [
        `select 1 from outbox where quarantined_at is null and tries > 0 and mode = 'live' order by id limit ?`,
        'outbox_live_tried_age_index',
        1,
      ],
    ] as const) {
      const found = await plan(sql, [...(sql.startsWith('update') ? [now] : []), param]);
      expect(found, sql).to.contain(index).and.not.contain('Seq Scan').and.not.contain('Sort');
    }
  });

  it('finds what waits too long, lost its block or should have ended by an index', async () => {
    const at = new Date('2026-11-20T00:00:00Z');
    for (const sql of [
      `select 1 from deposits where status in ('detected', 'confirming') and not simulated and state_since <= ? limit 10000`,
      `select 1 from deposits where status in ('completed', 'settled') and block_hash is null and not simulated and state_since <= ? limit 10000`,
      `select 1 from payment_links where status in ('pending', 'processing', 'partially_paid') and expires_at <= ? limit 10000`,
    ])
      expect(await plan(sql, [at]), sql).to.not.contain('Seq Scan');
  });
});

const MONTH_SQL = 'select tableoid::regclass::text as month from webhook_deliveries limit 1';

/** One in a hundred waits; the others are what years have left. */
const SEED = [
  `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key, transaction_hash, block_number, block_hash,
     amount_units, amount_usd_cents, status, state_since, generation, sequence, simulated, required_confirmations, posting_count, detected_at, created_at, updated_at)
   select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'live', 'bsc', 'USDT', 'A', 'a', md5(n::text), n, 'b', 1, 1,
     case when n % 100 = 0 then 'detected' else 'completed' end, at, 1, 1, false, 15, 1, at, at, at
   from generate_series(1, ${MANY}) n, lateral (select '2026-01-01'::timestamptz + n * interval '1 minute' as at) t`,
  `insert into payment_links (id, merchant_id, customer_id, mode, token, url, status, amount_status, state_since, sequence, amount_cents, amount_units, least_units,
     paid_units, late, currency, metadata, expires_at, completed_at, created_at, updated_at, offered_networks)
   select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'live', n::text, 'u', case when n % 100 = 0 then 'pending' else 'expired' end, 'none', at, 1, 1, 1, 1,
     0, false, 'USDT', '{}', at, null, at, at, array['bsc']
   from generate_series(1, ${MANY}) n, lateral (select '2026-01-01'::timestamptz + n * interval '1 minute' as at) t`,
  `insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, next_attempt_at, created_at)
   select id_of_delivery(event_id, endpoint_id), event_id, endpoint_id, 'deposit.detected', case when n % 100 = 0 then 'pending' else 'succeeded' end, 1, at, at
   from generate_series(1, ${MANY}) n, lateral (select '2026-01-01'::timestamptz + n * interval '1 minute' as at) t,
     lateral (select id_of_event(at, 'deposit.detected', gen_random_uuid(), 1) as event_id, gen_random_uuid() as endpoint_id) i`,
  `insert into outbox (kind, workflow_id, message, tries, created_at, next_try_at, quarantined_at)
   select 'start', n::text, '{}', n % 3, at, at, case when n % 3 = 2 then at end
   from generate_series(1, 60000) n, lateral (select '2026-11-01'::timestamptz + n * interval '1 minute' as at) t`,
];
