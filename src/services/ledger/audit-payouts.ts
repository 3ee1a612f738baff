import type { Em } from '../../db/orm.ts';
import { firstRow, rows, type Statement, sql } from '../../db/sql.ts';
import { NATIVE_CURRENCY, NETWORKS } from '../../domain/assets.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import { type AuditRow, type Bound, isIn, pages, type Range } from './audit-pages.ts';

export type PayoutPage = { readonly payouts: number; readonly differences: readonly AuditRow[] };

/**
 * Reads every payout once, along its primary key, and every settled deposit with the payouts' first page.
 * Finds payouts that are not the sum of their deposits, or that no transaction of ours has paid, and settled
 * deposits that no settled payout of theirs covers.
 */
export async function* payoutPages(em: Em, size: number): AsyncGenerator<PayoutPage> {
  const bound = (after: string, offset: number) =>
    sql<Bound>`select id from payouts where id > ${after} order by id offset ${offset} limit 1`;
  yield* pages(em, { bound, size }, async (range) => {
    const count = sql<{ count: number }>`select count(*)::int as count from payouts
      where ${isIn(range, 'id')}`;
    const counted = await firstRow(em, count);
    return { payouts: counted?.count ?? 0, differences: await rows(em, sql<AuditRow>`${sums(range)}`) };
  });
  const settled = (after: string, offset: number) =>
    sql<Bound>`select id from deposits where id > ${after} and status = 'settled'
      order by id offset ${offset} limit 1`;
  yield* pages(em, { bound: settled, size }, async (range) => ({
    payouts: 0,
    differences: await rows(em, sql<AuditRow>`${unpaid(range)}`),
  }));
}

const NATIVES = sql.join(
  NETWORKS.map((network) => sql`(${sql.lit(network)}, ${sql.lit(NATIVE_CURRENCY[network])})`),
);

/**
 * A payout's whole, what it paid and what that cost, each against what its deposits say; and what blocks show
 * that it paid: twice where two of its transactions succeeded, nothing where it failed.
 */
const sums = (range: Range): Statement<unknown> => sql`
  select null::uuid as deposit_id, null::uuid as ledger_transaction_id, p.id as payout_id, p.merchant_id,
    p.mode, p.network, sides.currency, sides.account, sides.expected::text as expected,
    sides.found::text as found, p.transaction_hash, null::varchar as state, null::varchar as failure_code,
    p.created_at as since
  from payouts p
  join (values ${NATIVES}) as coin (network, currency) on coin.network = p.network
  cross join lateral (
    select coalesce(sum(d.amount_units), 0) as gross, coalesce(sum(d.settled_units), 0) as net,
      coalesce(sum(d.settlement_fee_units), 0) as fee
    from deposits d where d.payout_id = p.id
  ) parts
  cross join lateral (
    select coalesce(sum(case when p.state <> 'settled' then s.amount_units
        else least((select coalesce(sum((m->>'units')::numeric), 0) from jsonb_array_elements(s.moves) m
          where m->>'currency' = p.currency and lower(m->>'to') = lower(p.destination)), s.amount_units)
        end), 0) as net,
      coalesce(bool_or(s.hash = p.transaction_hash), false) as told from sent_transactions s
    where s.payout_id = p.id and (s.purpose = 'payout' or s.purpose is null) and s.ok
      and s.block_hash is not null
  ) paid
  cross join lateral (values
    (p.currency, null::varchar,
      case when p.state = 'settled' or p.state = any(${LIVING_PAYOUTS}) then p.gross_units else 0 end,
      parts.gross),
    (p.currency, 'settled', coalesce(p.net_units, 0), parts.net),
    (coin.currency, 'fees', coalesce(p.fee_units, 0), parts.fee),
    (p.currency, 'chain', coalesce(p.net_units, 0),
      case when p.simulated or p.state = any(${LIVING_PAYOUTS}) then coalesce(p.net_units, 0)
        -- Named by another hash, it is not what merchants were told.
        when p.state = 'settled' and not paid.told then 0 else paid.net end)
  ) as sides (currency, account, expected, found)
  where ${isIn(range, 'p.id')} and sides.expected <> sides.found`;

// Simulated deposits that were settled before there were payouts have none.
const unpaid = (range: Range): Statement<unknown> => sql`
  select d.id as deposit_id, null::uuid as ledger_transaction_id, d.payout_id, d.merchant_id, d.mode,
    d.network, d.currency, 'settled' as account, d.amount_units::text as expected, '0' as found,
    d.transaction_hash, d.status as state, d.failure_code, d.created_at as since
  from deposits d left join payouts p on p.id = d.payout_id
    and (p.merchant_id, p.mode, p.simulated, p.network, p.currency, p.address_key)
      = (d.merchant_id, d.mode, d.simulated, d.network, d.currency, d.address_key)
  where ${isIn(range, 'd.id')} and d.status = 'settled' and p.state is distinct from 'settled'
    and not (d.simulated and d.payout_id is null)`;
