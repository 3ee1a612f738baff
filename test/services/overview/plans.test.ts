import { hash } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { listMerchantActions } from '../../../src/services/audit/merchant-list.ts';
import { listDeposits } from '../../../src/services/deposits/reads.ts';
import { depositStory } from '../../../src/services/deposits/story/story.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { findAll } from '../../../src/services/find/find.ts';
import { readGiven } from '../../../src/services/find/given.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { readOverview } from '../../../src/services/overview/overview.ts';
import { listPaymentLinks } from '../../../src/services/payment-links/reads.ts';
import { listMerchantPayouts } from '../../../src/services/payouts/shown/merchant-reads.ts';
import type { Scope } from '../../../src/services/scope.ts';
import { listEvents, listEventsInFull } from '../../../src/services/webhooks/shown/event-reads.ts';
import { waitsForEarlier } from '../../../src/services/webhooks/turns.ts';
import { testDeps } from '../../support/gateway.ts';

/** More than lists count to. */
const ROWS = 30_000;
const md5 = (text: string) => hash('md5', text);
const PAGES = {
  workflow: () => null,
  dashboard: () => null,
  explorers: { bsc: undefined, tron: undefined },
};
type Asked = { readonly text: string; readonly values: unknown[] };

/** One merchant has many rows in each table; what is asked for is explained with its very values. */
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
    for (const table of [
      'customers',
      'deposit_addresses',
      'payment_links',
      'deposits',
      'events',
      'payouts',
      'settlement_waits',
      'deposit_transitions',
      'operator_actions',
    ])
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
    /Seq Scan on (deposits|payment_links|events|payouts|settlement_waits|deposit_transitions|operator_actions)[^(]*\(cost=[\d.]+\.\.\d{4}/;

  /** A delivery that may have to wait for one of the same deposit. */
  const ofDeposit = (subjectId: string) => ({
    eventType: 'deposit.completed',
    subjectId,
    sequence: 4,
    round: 1,
    createdAt: new Date(),
    endpoint: { id: subjectId },
  });

  it('is read by indexes alone, whatever the filter', async () => {
    const page = { limit: 20 };
    const found = await deps.orm.em.fork().execute<{ id: string }[]>('select id from deposits limit 1');
    const id = found[0]?.id ?? '';
    const events = await deps.orm.em
      .fork()
      .execute<{ id: string }[]>('select id from events order by created_at limit 1 offset 5000');
    const event = events[0]?.id ?? '';
    const network = 'tron' as const;
    for (const work of [
      () => readOverview(deps, scope),
      () => listEvents(deps, { ...scope, page }),
      () => listEvents(deps, { ...scope, type: 'customer.created', page }),
      () => listEvents(deps, { ...scope, subjectId: id, page }),
      () => listEventsInFull(deps, { ...scope, createdFrom: new Date(Date.now() - 600_000), page }),
      () => listEventsInFull(deps, { ...scope, createdTo: new Date(Date.now() - 600_000), page }),
      () => listEventsInFull(deps, { ...scope, page: { limit: 100, endingBefore: event } }),
      () => waitsForEarlier(deps, ofDeposit(id)),
      () => listMerchantPayouts(deps, { ...scope, page }),
      () => listMerchantPayouts(deps, { ...scope, state: 'failed', page }),
      () => listMerchantPayouts(deps, { ...scope, network, page }),
      () => depositStory(deps, { ...scope, id }),
      () => findAll(deps, PAGES, readGiven(`0x${'a'.repeat(64)}`)),
      () => findAll(deps, PAGES, readGiven('nobody@example.com')),
      () => listMerchantActions(deps, { merchantId: scope.merchantId }, page),
    ])
      for (const plan of await plansOf(work)) expect(plan).to.not.match(GROWN);
  });

  it('is walked through by what was changed in one mode, also where the other one has all of it', async () => {
    const [middle] = await deps.orm.em
      .fork()
      .execute<{ id: string }[]>('select id from operator_actions order by at offset 5000 limit 1');
    for (const [mode, place] of [
      ['test', {}],
      ['live', {}],
      ['live', { startingAfter: middle?.id }],
      ['live', { endingBefore: middle?.id }],
    ] as const) {
      const list = () =>
        listMerchantActions(deps, { merchantId: scope.merchantId, mode }, { limit: 20, ...place });
      const plans = (await plansOf(list)).join('\n');
      expect(plans)
        .to.match(/operator_actions_mode_index/)
        .and.not.match(GROWN)
        .and.not.match(/Index Scan[^\n]* using operator_actions_merchant_id_index/);
    }
    const counted = await listMerchantActions(deps, { merchantId: scope.merchantId }, { limit: 20 });
    const most = { total: 10_000, totalIsAtLeast: true };
    expect(counted).to.deep.include(most);
    expect(await listEvents(deps, { ...scope, page: { limit: 20 } })).to.deep.include(most);
    const { waiting } = await readOverview(deps, scope);
    expect(waiting.unpaid).to.deep.include({ count: 10_000, at_least: true });
  });

  it('is found by what a customer or an order is called at once: an old row, and none', async () => {
    const page = { limit: 20 };
    const old = `0x${md5(`${ROWS}`)}00000000`;
    const none = `0x${'ab'.repeat(20)}`;
    const lists: [number, () => Promise<{ rows: readonly unknown[] }>][] = [
      [1, () => listDeposits(deps, { ...scope, address: old, page })],
      [0, () => listDeposits(deps, { ...scope, address: none, page })],
      [20, () => listDeposits(deps, { ...scope, externalId: '1000', page })],
      [0, () => listDeposits(deps, { ...scope, externalId: 'nobody', page })],
      [20, () => listDeposits(deps, { ...scope, email: 'c7@example.com', page })],
      [0, () => listDeposits(deps, { ...scope, email: 'nobody@example.com', page })],
      [1, () => listPaymentLinks(deps, { ...scope, externalId: `${ROWS}`, page })],
      [0, () => listPaymentLinks(deps, { ...scope, externalId: 'none', page })],
    ];
    for (const [count, list] of lists) {
      expect((await list()).rows).to.have.lengthOf(count);
      for (const plan of await plansOf(list))
        expect(plan)
          .to.not.match(GROWN)
          .and.not.match(/(deposits|payment_links)_list_index/);
    }
  });
});

const SEED = [
  `insert into customers (id, merchant_id, mode, external_id, email, metadata, wallet_index, created_at, updated_at)
   select md5('c' || n)::uuid, ?, 'live', n::text, 'c' || n || '@example.com', '{}', n, now(), now() from generate_series(1, ?) n where n <= 1000`,
  `insert into deposits (id, merchant_id, customer_id, mode, network, currency, address, address_key,
     transaction_hash, block_number, block_hash, amount_units, amount_usd_cents, status, state_since, generation,
     sequence, posting_count, simulated, required_confirmations, detected_at, completed_at, created_at, updated_at)
   select overlay(overlay(md5('d' || n) placing '8' from 13) placing 'a' from 17)::uuid, ?, md5('c' || 1 + n % 1000)::uuid,
     'live', 'bsc', 'USDT', 'a' || n, md5(n::text) || '00000000', '0x' || n, n, '0x' || n, 1, 1, 'completed', at, 1,
     3, 3, false, 15, at, at, at, at
   from generate_series(1, ?) n, lateral (select now() - n * interval '10 seconds' as at) t`,
  `insert into deposit_addresses (id, merchant_id, customer_id, mode, network, address, address_key, created_at)
   select id, ?, customer_id, 'live', 'bsc', address, address_key, created_at from deposits where block_number = ?`,
  `insert into payment_links (id, merchant_id, customer_id, mode, token, url, status, amount_status, state_since,
     sequence, amount_cents, amount_units, least_units, paid_units, late, currency, offered_networks, external_id,
     metadata, expires_at, created_at, updated_at)
   select md5('l' || n)::uuid, ?, md5('c' || 1 + n % 1000)::uuid, 'live', 'pl_' || n, 'u', 'expired', 'none', at, 2,
     500, 1, 1, 0, false, 'USDT', '{bsc}', n::text, '{}', at, at, at
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
  `insert into operator_actions (id, at, action, by_name, origin, merchant_id, mode, subject)
   select gen_random_uuid(), created_at, 'key.create', 'Ann', 'here', merchant_id, 'live', 'x' from deposits
   where merchant_id = ? limit ?`,
  `insert into settlement_waits (network, address_key, merchant_id, address, currency, code, reason, since, updated_at)
   select 'bsc', address_key, merchant_id, address, 'USDT', 'below_minimum', 'test', now(), now() from deposits
   where merchant_id = ? limit ?`,
];
