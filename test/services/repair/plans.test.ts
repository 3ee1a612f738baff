import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { literals, rows, run, type Statement, sql } from '../../../src/db/sql.ts';
import { WAITING_STATES } from '../../../src/domain/deposit.ts';
import { OPEN_STATUSES } from '../../../src/domain/payment-link.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { takePageSql, takeSql } from '../../../src/services/outbox/take.ts';
import { pageSql } from '../../../src/services/repair/actors.ts';
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
      await run(em, sql`set local statement_timeout = '60s'`);
      await run(em, sql`set local session_replication_role = replica`);
      for (const seed of SEED) await run(em, seed);
    });
    await run(deps.orm.em.fork(), sql`analyze deposits, payment_links, outbox, webhook_deliveries`);
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });

  const plan = async (statement: Statement<unknown>) =>
    (await rows(deps.orm.em.fork(), sql<Record<string, string>>`explain ${statement}`))
      .map((row) => row['QUERY PLAN'])
      .join('\n');

  for (const [what, paged, index] of [
    [
      'waiting deposits',
      {
        from: 'deposits',
        where: sql`status in ${literals(WAITING_STATES)} and not simulated`,
        by: 'state_since',
      },
      'deposits_standing_index',
    ],
    [
      'open payment links',
      { from: 'payment_links', where: sql`status in ${literals(OPEN_STATUSES)}`, by: 'expires_at' },
      'payment_links_ending_index',
    ],
  ] as const)
    it(`pages over ${what} by their index`, async () => {
      for (const at of [ANY.at, '2026-11-20T00:00:00Z']) {
        const found = await plan(pageSql(paged, { ...ANY, at }));
        expect(found).to.contain(index).and.not.contain('Seq Scan').and.not.contain('Sort');
      }
    });

  it('takes the first due messages of the outbox by an index, whatever waits behind them', async () => {
    const now = new Date('2027-06-01T00:00:00Z');
    for (const [statement, index] of [
      [takeSql('fresh', 100, now), 'outbox_live_fresh_index'],
      [takeSql('tried', 100, now), 'outbox_live_tried_index'],
      [takeSql('seldom', 10, now), 'outbox_seldom_index'],
      [takePageSql('0', now), 'outbox_quarantine_pages_index'],
      [
        sql`select 1 from outbox where quarantined_at is null and tries > 0 and mode = 'live' order by id
          limit 1`,
        'outbox_live_tried_age_index',
      ],
    ] as const)
      expect(await plan(statement), index)
        .to.contain(index)
        .and.not.contain('Seq Scan')
        .and.not.contain('Sort');
    // Merchants take turns among the first thousand, which are sorted.
    expect(await plan(takeSql('test', 40, now)))
      .to.contain('outbox_test_index')
      .and.not.contain('Seq Scan');
  });
});

/** One in a hundred waits; the others are what years have left. */
const SEED = [
  sql`insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
     transaction_hash, block_number, block_hash,
     amount_units, amount_usd_cents, status, state_since, generation, sequence, simulated,
       required_confirmations, posting_count, detected_at, created_at, updated_at)
   select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'live', 'bsc', 'USDT', 'A', 'a',
     md5(n::text), n, 'b', 1, 1,
     case when n % 100 = 0 then 'detected' else 'completed' end, at, 1, 1, false, 15, 1, at, at, at
   from generate_series(1, ${MANY}::int) n,
     lateral (select '2026-01-01'::timestamptz + n * interval '1 minute' as at) t`,
  sql`insert into payment_links (id, merchant_id, customer_id, mode, token, url, status, amount_status,
     state_since, sequence, amount_cents, amount_units, least_units,
     paid_units, late, currency, metadata, expires_at, completed_at, created_at, updated_at, offered_networks)
   select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'live', n::text, 'u',
     case when n % 100 = 0 then 'pending' else 'expired' end, 'none', at, 1, 1, 1, 1,
     0, false, 'USDT', '{}', at, null, at, at, array['bsc']
   from generate_series(1, ${MANY}::int) n,
     lateral (select '2026-01-01'::timestamptz + n * interval '1 minute' as at) t`,
  sql`insert into outbox (kind, workflow_id, message, tries, created_at, next_try_at, quarantined_at)
   select 'start', n::text, '{}', n % 3, at, at, case when n % 3 = 2 then at end
   from generate_series(1, 60000) n,
     lateral (select '2026-11-01'::timestamptz + n * interval '1 minute' as at) t`,
];
