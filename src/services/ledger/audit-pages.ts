import type { Em } from '../../db/orm.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import type { DepositState, FailureCode } from '../../domain/deposit.ts';
import type { LedgerAccount } from '../../domain/ledger.ts';
import { homesSql } from './accounts.ts';

/** A difference as the database names it, with the facts of its deposit. */
export type BooksRow = {
  deposit_id: string | null;
  ledger_transaction_id: string | null;
  merchant_id: string;
  mode: Mode;
  network: Network;
  currency: Currency;
  account: LedgerAccount | null;
  expected: string;
  found: string;
  transaction_hash: string | null;
  state: DepositState | null;
  failure_code: FailureCode | null;
  since: Date | string | null;
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
  readonly postings: readonly BooksRow[];
};

export type DepositPage = { readonly deposits: number; readonly homes: readonly BooksRow[]; readonly credits: readonly BooksRow[] };

const LOWEST = '00000000-0000-0000-0000-000000000000';
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const MIN_ROWS = 250;
const MAX_ROWS = 50_000;
/** A page that takes longer is followed by a smaller one, one that takes a quarter of it by a larger one. */
const LONG_MS = 1_500;

const ASSET = 'merchant_id, mode, network, currency';
const E_ASSET = 'e.merchant_id, e.mode, e.network, e.currency';

type Range = { readonly after: string; readonly to: string };

/** Every line of the ledger once, along its primary key. */
export async function* linePages(em: Em, rows: number): AsyncGenerator<LinePage> {
  const bound = `select transaction_id as id from ledger_entries where transaction_id > ? order by transaction_id, line offset ? limit 1`;
  yield* pages(em, { bound, rows }, async (range) => {
    const counted = await sums(em, 'e.account is not null', range);
    return {
      lines: counted.reduce((all, { lines }) => all + lines, 0),
      sums: counted.map(({ sum }) => sum),
      headless: (await sums(em, `e.account <> 'chain' and t.id is null`, range)).map(({ sum }) => sum),
      postings: await withDeposits(em, POSTING, range),
    };
  });
}

/**
 * Every deposit once, and every ledger transaction by the deposit that it names, whether that exists or not, along the deposits' ids:
 * what does not lie where its state demands, and what was credited another number of times than it was completed.
 */
export async function* depositPages(em: Em, rows: number): AsyncGenerator<DepositPage> {
  const bound = `select id from deposits where id > ? order by id offset ? limit 1`;
  yield* pages(em, { bound, rows }, async (range) => {
    const [size] = await em.execute<{ count: number }[]>('select count(*)::int as count from deposits where id > ? and id <= ?', [
      ...[range.after, range.to],
    ]);
    return {
      deposits: size?.count ?? 0,
      homes: await withDeposits(em, DEPOSIT, range, range),
      credits: await withDeposits(em, CREDIT, range, range, range),
    };
  });
}

/** The running totals with what was not added to them yet. */
export async function totalsOf(em: Em): Promise<LineSum[]> {
  const rows = await em.execute<SumRow[]>(
    `select ${ASSET}, account, sum(amount_units)::text as units, 0 as lines from (
       select ${ASSET}, account, amount_units from balance_totals union all select ${ASSET}, account, amount_units from balance_changes
     ) as parts group by ${ASSET}, account`,
  );
  return rows.map((row) => sumOf(row).sum);
}

/** Goes along a key in ranges that together hold every possible value of it, none twice. `bound` finds the end of a page of so many rows. */
async function* pages<T>(
  em: Em,
  by: { readonly bound: string; readonly rows: number },
  read: (range: Range) => Promise<T>,
): AsyncGenerator<T> {
  let rows = by.rows;
  for (let after = LOWEST; after !== HIGHEST; ) {
    const startedMs = performance.now();
    const [end] = await em.execute<{ id: string }[]>(by.bound, [after, rows - 1]);
    const to = end?.id ?? HIGHEST;
    yield await read({ after, to });
    after = to;
    const tookMs = performance.now() - startedMs;
    if (tookMs > LONG_MS) rows = Math.max(MIN_ROWS, Math.floor(rows / 2));
    else if (tookMs < LONG_MS / 4) rows = Math.min(MAX_ROWS, rows * 2);
  }
}

type SumRow = {
  merchant_id: string;
  mode: Mode;
  network: Network;
  currency: Currency;
  account: LedgerAccount;
  units: string;
  lines: number;
};

async function sums(em: Em, which: string, { after, to }: Range) {
  const rows = await em.execute<SumRow[]>(
    `select ${E_ASSET}, e.account, sum(e.amount_units)::text as units, count(*)::int as lines
     from ledger_entries e left join ledger_transactions t on t.id = e.transaction_id
     where e.transaction_id > ? and e.transaction_id <= ? and ${which} group by ${E_ASSET}, e.account`,
    [after, to],
  );
  return rows.map(sumOf);
}

function sumOf(row: SumRow): { readonly sum: LineSum; readonly lines: number } {
  const { merchant_id: merchantId, mode, network, currency, account, units, lines } = row;
  return { sum: { merchantId, mode, network, currency, account, units: BigInt(units) }, lines };
}

/** The rows of one check over a range with the facts of their deposit. */
async function withDeposits(em: Em, check: string, ...ranges: readonly Range[]): Promise<BooksRow[]> {
  return await em.execute<BooksRow[]>(
    `select x.deposit_id, x.ledger_transaction_id, x.merchant_id, x.mode, x.network, x.currency, x.account,
       x.expected::text as expected, x.found::text as found, d.transaction_hash, d.status as state, d.failure_code,
       coalesce(x.since, d.created_at) as since
     from (${check}) x left join deposits d on d.id = x.deposit_id`,
    ranges.flatMap(({ after, to }) => [after, to]),
  );
}

// `chain` is not compared: it is the other side of every posting, and each posting is checked to sum to zero.
const DEPOSIT = `
  select deposit_id, null::uuid as ledger_transaction_id, ${ASSET}, account, sum(expected) as expected, sum(found) as found,
    null::timestamptz as since
  from (
    select d.id as deposit_id, d.merchant_id, d.mode, d.network, d.currency, home.account, d.amount_units as expected, 0::numeric as found
    from deposits d join ${homesSql()}
      on home.status = d.status and home.failure_code = coalesce(d.failure_code, '') and home.on_chain = (d.block_hash is not null)
    where home.account <> 'chain' and d.id > ? and d.id <= ?
    union all
    select t.deposit_id, ${E_ASSET}, e.account, 0, e.amount_units
    from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
    where e.account <> 'chain' and t.deposit_id > ? and t.deposit_id <= ?
  ) sides
  group by deposit_id, ${ASSET}, account having sum(expected) <> sum(found)`;

// A deposit that came back after it had failed may be completed again: each completion of the audit trail has one credit. Where months were
// detached the trail of an old deposit may lack its beginning; credits of before what is left of it are not compared.
const CREDIT = `
  select d.id as deposit_id, null::uuid as ledger_transaction_id, d.merchant_id, d.mode, d.network, d.currency, null::varchar as account,
    counted.expected, counted.found, null::timestamptz as since
  from deposits d
  cross join (
    select case when bool_or(detached_at is not null) then min(first_month) filter (where detached_at is null) end as kept_from from partition_months
  ) months
  left join (
    select deposit_id, min(sequence) as first, count(*) filter (where to_state = 'completed') as times
    from deposit_transitions where deposit_id > ? and deposit_id <= ? group by 1
  ) trail on trail.deposit_id = d.id
  left join (
    select deposit_id, array_agg(sequence) as sequences from (
      select t.deposit_id, t.id, t.sequence from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
      where e.account = 'available' and t.deposit_id > ? and t.deposit_id <= ? group by 1, 2, 3 having sum(e.amount_units) > 0
    ) credits group by 1
  ) credited on credited.deposit_id = d.id
  cross join lateral (
    select coalesce(d.created_at < months.kept_from::timestamp at time zone 'UTC' and coalesce(trail.first, 2) > 1, false) as cut
  ) old
  cross join lateral (select
    greatest(coalesce(trail.times, 0), case when not old.cut and d.status in ('completed', 'settled') then 1 else 0 end)::numeric as expected,
    (select count(*) from unnest(credited.sequences) s where not old.cut or s >= coalesce(trail.first, d.sequence + 1))::numeric as found
  ) counted
  where d.id > ? and d.id <= ? and counted.expected <> counted.found`;

const POSTING = `
  select t.deposit_id, e.transaction_id as ledger_transaction_id, ${E_ASSET}, null::varchar as account,
    0::numeric as expected, sum(e.amount_units) as found, t.created_at as since
  from ledger_entries e left join ledger_transactions t on t.id = e.transaction_id
  where e.transaction_id > ? and e.transaction_id <= ?
  group by t.deposit_id, e.transaction_id, ${E_ASSET}, t.created_at having sum(e.amount_units) <> 0`;
