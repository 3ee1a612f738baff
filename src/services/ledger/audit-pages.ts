import type { Em } from '../../db/orm.ts';
import { firstRow, rows, type Statement, sql } from '../../db/sql.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import { CREDITED_STATES, type DepositState, type FailureCode } from '../../domain/deposit.ts';
import type { LedgerAccount } from '../../domain/ledger.ts';
import { HOME_UNITS, JOIN_HOMES } from './accounts.ts';

/** A difference as the database names it, with the facts of its deposit. */
export type AuditRow = {
  depositId: string | null;
  ledgerTransactionId: string | null;
  payoutId: string | null;
  merchantId: string;
  mode: Mode;
  network: Network;
  currency: Currency;
  account: LedgerAccount | null;
  expected: string;
  found: string;
  transactionHash: string | null;
  state: DepositState | null;
  failureCode: FailureCode | null;
  since: string | null;
};

/** What the lines of one account sum to. */
export type LineSum = {
  readonly merchantId: string;
  readonly mode: Mode;
  readonly network: Network;
  readonly currency: Currency;
  readonly account: LedgerAccount;
  readonly units: bigint;
};

export type LinePage = {
  readonly lines: number;
  readonly sums: readonly LineSum[];
  /** Lines whose ledger transaction does not exist. */
  readonly headless: readonly LineSum[];
  /** Ledger transactions whose lines do not sum to zero. */
  readonly postings: readonly AuditRow[];
};

export type DepositPage = {
  readonly deposits: number;
  readonly homes: readonly AuditRow[];
  readonly credits: readonly AuditRow[];
};

const LOWEST = '00000000-0000-0000-0000-000000000000';
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const MIN_ROWS = 250;
const MAX_ROWS = 50_000;
/**
 * After a page that takes longer comes a smaller one; after
 * a page that takes less than a quarter of it, a larger one.
 */
const LONG_MS = 1_500;

const ASSET = sql`merchant_id, mode, network, currency`;
const E_ASSET = sql`e.merchant_id, e.mode, e.network, e.currency`;

export type Bound = { readonly id: string };
export type Range = { readonly after: string; readonly to: string };

/** Reads every line of the ledger once, along its primary key. */
export async function* linePages(em: Em, size: number): AsyncGenerator<LinePage> {
  const bound = (after: string, offset: number) =>
    sql<Bound>`select transaction_id as id from ledger_entries where transaction_id > ${after}
      order by transaction_id, line offset ${offset} limit 1`;
  yield* pages(em, { bound, size }, async (range) => {
    const counted = await sums(em, range, sql`e.account is not null`);
    return {
      lines: counted.reduce((all, { lines }) => all + lines, 0),
      sums: counted.map(({ sum }) => sum),
      headless: (await sums(em, range, sql`e.account <> 'chain' and t.id is null`)).map(({ sum }) => sum),
      postings: await withDeposits(em, postings(range)),
    };
  });
}

/**
 * Reads every deposit once, and every ledger transaction by the deposit that it
 * names, whether that exists or not, along the deposits' ids. Finds what does not lie
 * where its state demands, and what was not credited as often as it was completed.
 */
export async function* depositPages(em: Em, size: number): AsyncGenerator<DepositPage> {
  const bound = (after: string, offset: number) =>
    sql<Bound>`select id from deposits where id > ${after} order by id offset ${offset} limit 1`;
  yield* pages(em, { bound, size }, async (range) => {
    const count = sql<{
      count: number;
    }>`select count(*)::int as count from deposits where ${isIn(range, 'id')}`;
    const counted = await firstRow(em, count);
    return {
      deposits: counted?.count ?? 0,
      homes: await withDeposits(em, homes(range)),
      credits: await withDeposits(em, credits(range)),
    };
  });
}

/** The running totals, together with what was not added to them yet. */
export async function totalsOf(em: Em): Promise<LineSum[]> {
  const found = await rows(
    em,
    sql<SumRow>`select ${ASSET}, account, sum(amount_units)::text as units from (
       select ${ASSET}, account, amount_units from balance_totals
         union all select ${ASSET}, account, amount_units from balance_changes
     ) as parts group by ${ASSET}, account`,
  );
  return found.map(sumOf);
}

/**
 * Goes along a key in ranges that together hold every possible value of it,
 * none twice. `bound` finds the end of a page of the given number of rows.
 */
export async function* pages<T>(
  em: Em,
  by: { readonly bound: (after: string, offset: number) => Statement<Bound>; readonly size: number },
  read: (range: Range) => Promise<T>,
): AsyncGenerator<T> {
  let { size } = by;
  for (let after = LOWEST; after !== HIGHEST; ) {
    const startedMs = performance.now();
    const end = await firstRow(em, by.bound(after, size - 1));
    const to = end?.id ?? HIGHEST;
    yield await read({ after, to });
    after = to;
    const tookMs = performance.now() - startedMs;
    if (tookMs > LONG_MS) size = Math.max(MIN_ROWS, Math.floor(size / 2));
    else if (tookMs < LONG_MS / 4) size = Math.min(MAX_ROWS, size * 2);
  }
}

type SumRow = Omit<LineSum, 'units'> & { units: string };

async function sums(em: Em, range: Range, which: Statement<unknown>) {
  const found = await rows(
    em,
    sql<
      SumRow & { lines: number }
    >`select ${E_ASSET}, e.account, sum(e.amount_units)::text as units, count(*)::int as lines
     from ledger_entries e left join ledger_transactions t on t.id = e.transaction_id
     where ${isIn(range, 'e.transaction_id')} and ${which} group by ${E_ASSET}, e.account`,
  );
  return found.map(({ lines, ...row }) => ({ sum: sumOf(row), lines }));
}

function sumOf(row: SumRow): LineSum {
  return { ...row, units: BigInt(row.units) };
}

/** True for the rows of a range, by the column that they are paged along. */
export function isIn({ after, to }: Range, column: string): Statement<unknown> {
  return sql`${sql.ref(column)} > ${after} and ${sql.ref(column)} <= ${to}`;
}

/** The rows of one check with the facts of their deposit. */
async function withDeposits(em: Em, check: Statement<unknown>): Promise<AuditRow[]> {
  return await rows(
    em,
    sql<AuditRow>`select x.deposit_id, x.ledger_transaction_id, null::uuid as payout_id,
       x.merchant_id, x.mode, x.network, x.currency,
       x.account,
       x.expected::text as expected, x.found::text as found, d.transaction_hash, d.status as state,
         d.failure_code,
       coalesce(x.since, d.created_at) as since
     from (${check}) x left join deposits d on d.id = x.deposit_id`,
  );
}

// `chain` is not compared: it is the other side of every posting, and each posting is checked to sum to zero.
const homes = (range: Range): Statement<unknown> => sql`
  select deposit_id, null::uuid as ledger_transaction_id, ${ASSET}, account, sum(expected) as expected,
    sum(found) as found,
    null::timestamptz as since
  from (
    select d.id as deposit_id, d.merchant_id, d.mode, d.network, d.currency, home.account,
      ${HOME_UNITS} as expected, 0::numeric as found
    from deposits d ${JOIN_HOMES}
    where ${isIn(range, 'd.id')}
    union all
    select t.deposit_id, ${E_ASSET}, e.account, 0, e.amount_units
    from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
    where e.account <> 'chain' and ${isIn(range, 't.deposit_id')}
  ) sides
  group by deposit_id, ${ASSET}, account having sum(expected) <> sum(found)`;

// A deposit that came back after it had failed may be completed again: each completion of
// the audit trail has one credit. When months were detached, the trail of an old deposit
// may lack its beginning; credits from before what is left of it are not compared.
const credits = (range: Range): Statement<unknown> => sql`
  select d.id as deposit_id, null::uuid as ledger_transaction_id, d.merchant_id, d.mode, d.network,
    d.currency, null::varchar as account,
    counted.expected, counted.found, null::timestamptz as since
  from deposits d
  cross join (
    select case when bool_or(detached_at is not null) then min(first_month)
      filter (where detached_at is null) end as kept_from from partition_months
  ) months
  left join (
    select deposit_id, min(sequence) as first, count(*) filter (where to_state = 'completed') as times
    from deposit_transitions where ${isIn(range, 'deposit_id')} group by 1
  ) trail on trail.deposit_id = d.id
  left join (
    select deposit_id, array_agg(sequence) as sequences from (
      select t.deposit_id, t.id, t.sequence from ledger_transactions t
        join ledger_entries e on e.transaction_id = t.id
      where e.account = 'available' and ${isIn(range, 't.deposit_id')} group by 1, 2, 3
        having sum(e.amount_units) > 0
    ) credits group by 1
  ) credited on credited.deposit_id = d.id
  cross join lateral (
    select coalesce(d.created_at < months.kept_from::timestamp at time zone 'UTC'
      and coalesce(trail.first, 2) > 1, false) as cut
  ) old
  cross join lateral (select
    greatest(coalesce(trail.times, 0),
      case when not old.cut and d.status = any(${CREDITED_STATES}) then 1 else 0 end)::numeric as expected,
    (select count(*) from unnest(credited.sequences) s
      where not old.cut or s >= coalesce(trail.first, d.sequence + 1))::numeric as found
  ) counted
  where ${isIn(range, 'd.id')} and counted.expected <> counted.found`;

const postings = (range: Range): Statement<unknown> => sql`
  select t.deposit_id, e.transaction_id as ledger_transaction_id, ${E_ASSET}, null::varchar as account,
    0::numeric as expected, sum(e.amount_units) as found, t.created_at as since
  from ledger_entries e left join ledger_transactions t on t.id = e.transaction_id
  where ${isIn(range, 'e.transaction_id')}
  group by t.deposit_id, e.transaction_id, ${E_ASSET}, t.created_at having sum(e.amount_units) <> 0`;
