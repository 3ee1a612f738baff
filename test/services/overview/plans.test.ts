import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { depositStory } from '../../../src/services/deposits/story/story.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { readOverview } from '../../../src/services/overview/overview.ts';
import { listMerchantPayouts } from '../../../src/services/payouts/shown/merchant-reads.ts';
import type { Scope } from '../../../src/services/scope.ts';
import { listEvents } from '../../../src/services/webhooks/shown/event-reads.ts';
import { testDeps } from '../../support/gateway.ts';

const ROWS = 100_000;
type Asked = { readonly text: string; readonly values: unknown[] };

/** One merchant has 100,000 rows in each table; what is asked for is explained with its very values. */
describe('what pages read of a grown merchant', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let deps: Deps;
  let scope: Scope;
  const sent: Asked[] = [];
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, [], { poolSize: 1, statementTimeoutMs: 100_000 });
    const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
    scope = { merchantId, mode: 'live' };
    await deps.orm.em.fork().transactional(async (em) => {
      await em.execute('set local session_replication_role = replica');
      for (const statement of SEED) await em.execute(statement, [merchantId, ROWS]);
    });
    for (const table of ['deposits', 'events', 'payouts', 'settlement_waits', 'deposit_transitions'])
      await deps.orm.em.fork().execute(`vacuum analyze ${table}`);
    await listen();
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });

  async function listen(): Promise<void> {
    const pool = await deps.orm.em.getConnection().getNativeClient();
    const client = await pool.connect();
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = (asked: unknown, values: unknown, ...rest: unknown[]) => {
      const named = asked as { text?: string; values?: unknown[] };
      if (typeof asked === 'string') sent.push({ text: asked, values: Array.isArray(values) ? values : [] });
      else if (named.text !== undefined) sent.push({ text: named.text, values: named.values ?? [] });
      return query(asked, values, ...rest);
    };
    client.release();
  }
  /** The plans of everything that `work` asks for. */
  async function plansOf(work: () => Promise<unknown>): Promise<string[]> {
    sent.splice(0);
    await work();
    const asked = sent.splice(0).filter(({ text }) => /^\s*(select|with)/i.test(text));
    expect(asked.length, 'statements').to.be.greaterThan(0);
    const pool = await deps.orm.em.getConnection().getNativeClient();
    const plans: string[] = [];
    for (const { text, values } of asked) {
      const { rows } = await pool.query(`explain ${text}`, values);
      plans.push(`${text}\n${rows.map((row: Record<string, unknown>) => row['QUERY PLAN']).join('\n')}`);
    }
    return plans;
  }
  /** Of a whole table, by its cost: months without rows are read as they lie, which is nothing. */
  const GROWN =
    /Seq Scan on (deposits|events|payouts|settlement_waits|deposit_transitions)[^(]*\(cost=[\d.]+\.\.\d{4}/;

  it('is read by indexes alone, whatever the filter', async () => {
    const page = { limit: 20 };
    const found = await deps.orm.em.fork().execute<{ id: string }[]>('select id from deposits limit 1');
    const id = found[0]?.id ?? '';
    const network = 'tron' as const;
    for (const work of [
      () => readOverview(deps, scope),
      () => listEvents(deps, { ...scope, page }),
      () => listEvents(deps, { ...scope, type: 'customer.created', page }),
      () => listEvents(deps, { ...scope, subjectId: id, page }),
      () => listMerchantPayouts(deps, { ...scope, page }),
      () => listMerchantPayouts(deps, { ...scope, state: 'failed', page }),
      () => listMerchantPayouts(deps, { ...scope, network, page }),
      () => depositStory(deps, { ...scope, id }),
    ])
      for (const plan of await plansOf(work)) expect(plan).to.not.match(GROWN);
  });

  it('is shown at once, and counted no further than lists are', async () => {
    const page = { limit: 20 };
    for (const list of [listEvents, listMerchantPayouts] as const) {
      const seen = await list(deps, { ...scope, page });
      expect([seen.rows.length, seen.total, seen.totalIsAtLeast]).to.deep.equal([20, 10_000, true]);
    }
    const { waiting } = await readOverview(deps, scope);
    expect(waiting.unpaid).to.deep.include({ count: 10_000, at_least: true });
    expect(waiting.why[0]?.addresses).to.deep.equal({ count: 10_000, at_least: true });
  });
});

const SEED = [
  `insert into customers (id, merchant_id, mode, external_id, metadata, wallet_index, created_at, updated_at)
   select md5('c' || n)::uuid, ?, 'live', n::text, '{}', n, now(), now() from generate_series(1, ?) n where n <= 1000`,
  `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
     transaction_hash, block_number, block_hash, amount_units, amount_usd_cents, status, state_since, generation,
     sequence, posting_count, simulated, required_confirmations, detected_at, completed_at, created_at, updated_at)
   select overlay(overlay(md5('d' || n) placing '8' from 13) placing 'a' from 17)::uuid, ?, md5('c' || 1 + n % 1000)::uuid,
     'live', 'bsc', 'USDT', 'a' || n, md5(n::text) || '00000000', '0x' || n, n, '0x' || n, 1, 1, 'completed', at, 1,
     3, 3, false, 15, at, at, at, at
   from generate_series(1, ?) n, lateral (select now() - n * interval '10 seconds' as at) t`,
  `insert into deposit_transitions (deposit_id, sequence, from_state, to_state, generation, at)
   select id, 1, null, 'detected', 1, created_at from deposits where merchant_id = ? limit ?`,
  `insert into events (id, merchant_id, mode, type, subject_id, sequence, body, occurred_at, created_at)
   select id_of_event(d.created_at, 'deposit.completed', d.id, 3), d.merchant_id, 'live', 'deposit.completed', d.id, 3,
     '{}', d.created_at, d.created_at from deposits d where merchant_id = ? limit ?`,
  `insert into payouts (id, merchant_id, mode, simulated, network, currency, address, address_key, destination,
     gross_units, state, state_since, net_units, fee_units, transaction_hash, settled_at, created_at, updated_at)
   select md5('p' || id)::uuid, merchant_id, 'live', false, 'bsc', 'USDT', address, address_key, 'd', 1, 'settled', now(),
     1, 0, 'h', now(), created_at, now() from deposits where merchant_id = ? limit ?`,
  `insert into settlement_waits (network, address_key, merchant_id, address, currency, code, reason, since, updated_at)
   select 'bsc', address_key, merchant_id, address, 'USDT', 'below_minimum', 'test', now(), now() from deposits
   where merchant_id = ? limit ?`,
];
