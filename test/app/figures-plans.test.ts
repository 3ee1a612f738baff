import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../dev/support/parts.ts';
import { firstRow, type Statement, sql } from '../../src/db/sql.ts';
import type { Deps } from '../../src/services/deps.ts';
import { MONEY_AT_REST, OPEN_DEPOSITS } from '../../src/services/ledger/money-at-rest.ts';
import { dueDeliveries, UNWELL_ENDPOINTS } from '../../src/services/webhooks/waiting.ts';
import { testDeps } from '../support/gateway.ts';

const MANY = 80_000;
const WAITING = MANY / 200;

type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly Plans?: readonly Plan[];
};

/**
 * A scrape costs what waits, not what was: asked of
 * PostgreSQL itself, with the planner's settings as they are.
 */
describe('figures among the rows of years', function () {
  this.timeout(300_000);
  let database: FreshDatabase;
  let deps: Deps;
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, [], { poolSize: 2, statementTimeoutMs: 0 });
    await deps.orm.em.fork().transactional(async (em) => {
      await em.execute('set local session_replication_role = replica');
      for (const seed of SEED) await em.execute(seed);
    });
    for (const table of [
      'deposits',
      'webhook_endpoints',
      'webhook_deliveries',
      'balance_totals',
      'balance_changes',
    ])
      await deps.orm.em.fork().execute(`vacuum analyze ${table}`);
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });

  /** Every row that the statement took from a table, by table. */
  async function rowsTaken(statement: Statement<unknown>): Promise<Record<string, number>> {
    const explain = sql<{ 'QUERY PLAN': { Plan: Plan }[] }>`explain (analyze, format json) ${statement}`;
    const row = await firstRow(deps.orm.em.fork(), explain);
    const taken: Record<string, number> = {};
    const walk = (node: Plan): void => {
      const name = node['Relation Name'];
      if (name !== undefined) {
        const removed = (node as unknown as Record<string, number>)['Rows Removed by Filter'] ?? 0;
        taken[name] = (taken[name] ?? 0) + node['Actual Rows'] + removed;
      }
      for (const child of node.Plans ?? []) walk(child);
    };
    walk(row?.['QUERY PLAN'][0]?.Plan as Plan);
    return taken;
  }

  it('look at the deposits that wait', async () => {
    expect(await rowsTaken(OPEN_DEPOSITS)).to.deep.equal({ deposits: WAITING });
  });

  it('look at the registered endpoints that are unwell, and not at those of payment links', async () => {
    const taken = await rowsTaken(UNWELL_ENDPOINTS);
    expect(taken['webhook_endpoints']).to.be.within(1, 100);
  });

  it('look at the sums of money, which are as many as merchants have accounts', async () => {
    expect(await rowsTaken(MONEY_AT_REST)).to.deep.equal({ balance_totals: 16, balance_changes: 0 });
  });

  it('look at the webhooks that are due, and at ten thousand of them at most', async () => {
    const rows = Object.values(await rowsTaken(dueDeliveries(new Date('2027-06-01T00:00:00Z'))));
    const taken = rows.reduce((sum, count) => sum + count, 0);
    expect(taken).to.be.within(1, 10_000 + 100);
  });
});

/** One deposit in two hundred waits; half of the webhooks are due, more than are counted. */
const SEED = [
  `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
     transaction_hash, block_number, block_hash,
     amount_units, amount_usd_cents, status, state_since, generation, sequence, simulated,
       required_confirmations, posting_count, detected_at, created_at, updated_at)
   select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'live', 'bsc', 'USDT', 'A', 'a',
     md5(n::text), n, 'b', 1, 1,
     case when n % 200 = 0 then 'detected' else 'completed' end, at, 1, 1, false, 15, 1, at, at, at
   from generate_series(1, ${MANY}) n,
     lateral (select '2026-01-01'::timestamptz + n * interval '1 minute' as at) t`,
  `insert into webhook_endpoints (id, merchant_id, mode, url, events, enabled, secret_sealed, secret_hint,
     earlier_secrets, consecutive_failures,
     failing_since, gone_count, payment_link_id, created_at, updated_at)
   select gen_random_uuid(), gen_random_uuid(), 'live', 'http://receiver.test/', '{}', true, '', 'x', '[]', 1,
     now(), 0,
     case when n % 4000 <> 0 then gen_random_uuid() end, now(), now() from generate_series(1, ${MANY}) n`,
  `insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, next_attempt_at,
   created_at)
   select id_of_delivery(event_id, endpoint_id), event_id, endpoint_id, 'deposit.detected',
     case when n % 2 = 0 then 'pending' else 'succeeded' end, 1, at, at
   from generate_series(1, ${MANY / 2}) n,
     lateral (select '2026-11-01'::timestamptz + n * interval '1 second' as at) t,
     lateral (select id_of_event(at, 'deposit.detected', gen_random_uuid(), 1) as event_id,
       gen_random_uuid() as endpoint_id) i`,
  `insert into balance_totals (merchant_id, mode, network, currency, account, amount_units, posted_at)
   select gen_random_uuid(), 'live', 'bsc', 'USDT', account, 1, now() from generate_series(1, 4) n,
     unnest(array['chain', 'available', 'settled', 'held']) account`,
];
