import { IsolationLevel } from '@mikro-orm/core';
import type { Em } from '../db/orm.ts';
import type { Currency, Mode, Network } from '../domain/assets.ts';
import { DEPOSIT_STATES, type DepositState, FAILURE_CODES, type FailureCode } from '../domain/deposit.ts';
import { homeOf, type LedgerAccount } from '../domain/ledger.ts';
import type { Deps } from './deps.ts';

/**
 * What does not agree. `deposit`: an account holds another amount of it than its state demands. `credit`: it was credited more or less
 * often than it was completed (a count, no amount). `posting`: the lines of one ledger transaction do not sum to zero. `total`: a running
 * total is not the sum of its lines.
 */
export type BooksCheck = 'deposit' | 'credit' | 'posting' | 'total';

export type BooksDifference = {
  readonly check: BooksCheck;
  /** Null for a total, and for lines that belong to no deposit. */
  readonly depositId: string | null;
  readonly transactionHash: string | null;
  /** Null where there is no such deposit. */
  readonly state: DepositState | null;
  readonly failureCode: FailureCode | null;
  /** Of a posting alone. */
  readonly ledgerTransactionId: string | null;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly network: Network;
  readonly currency: Currency;
  /** Null for a credit and a posting. */
  readonly account: LedgerAccount | null;
  /** Base units; a number of credits for a credit. */
  readonly expected: bigint;
  readonly found: bigint;
  /** When the deposit, or the posting, was recorded; null for a total. */
  readonly since: Date | null;
};

export type Books = {
  readonly deposits: number;
  readonly lines: number;
  /** How many differences there are; `differences` holds the oldest 1,000 of them. */
  readonly total: number;
  readonly differences: readonly BooksDifference[];
};

const MAX_LISTED = 1_000;

/**
 * Compares the ledger with itself, with the deposits and with the running totals, in one snapshot, so that it may run beside everything
 * else; it changes nothing. What a state demands is {@link homeOf}. Takes time with the number of lines: the connection's limit for a
 * statement has to allow it.
 */
export async function checkBooks(deps: Deps): Promise<Books> {
  return await deps.orm.em.fork().transactional(
    async (em) => {
      const [size] = await em.execute<{ deposits: number; lines: number }[]>(
        'select (select count(*) from deposits)::int as deposits, (select count(*) from ledger_entries)::int as lines',
      );
      const found: BooksDifference[] = [];
      let total = 0;
      for (const check of ['posting', 'deposit', 'credit', 'total'] as const) {
        const rows = await differencesOf(em, check);
        found.push(...rows.map((row) => present(check, row)));
        total += rows[0]?.total ?? 0;
      }
      const differences = found.toSorted((a, b) => age(a) - age(b)).slice(0, MAX_LISTED);
      return { deposits: size?.deposits ?? 0, lines: size?.lines ?? 0, total, differences };
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
  );
}

function age({ since }: BooksDifference): number {
  return since?.getTime() ?? Number.POSITIVE_INFINITY;
}

type Row = {
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
  since: Date | null;
  total: number;
};

/** The rows of one check with the facts of their deposit, oldest first, at most {@link MAX_LISTED}; `total` counts them all. */
async function differencesOf(em: Em, check: BooksCheck): Promise<Row[]> {
  return await em.execute<Row[]>(
    `select x.deposit_id, x.ledger_transaction_id, x.merchant_id, x.mode, x.network, x.currency, x.account,
       x.expected::text as expected, x.found::text as found, d.transaction_hash, d.status as state, d.failure_code,
       coalesce(x.since, d.created_at) as since, count(*) over ()::int as total
     from (${CHECKS[check]}) x left join deposits d on d.id = x.deposit_id
     order by since nulls last, x.deposit_id, x.ledger_transaction_id, x.merchant_id, x.mode, x.network, x.currency, x.account
     limit ${MAX_LISTED}`,
  );
}

function present(check: BooksCheck, row: Row): BooksDifference {
  return {
    ...{ check, depositId: row.deposit_id, transactionHash: row.transaction_hash, state: row.state, failureCode: row.failure_code },
    ...{ ledgerTransactionId: row.ledger_transaction_id, merchantId: row.merchant_id, mode: row.mode, network: row.network },
    ...{ currency: row.currency, account: row.account, expected: BigInt(row.expected), found: BigInt(row.found) },
    since: row.since === null ? null : new Date(row.since),
  };
}

/** The rule of the domain as a table: state, code ('' for none), whether its transaction is in a block, and where its money is then. */
function homes(): string {
  const rows = DEPOSIT_STATES.flatMap((state) =>
    (state === 'failed' ? FAILURE_CODES : [null]).flatMap((failureCode) =>
      [true, false].map((onChain) => `('${state}', '${failureCode ?? ''}', ${onChain}, '${homeOf({ state, failureCode, onChain })}')`),
    ),
  );
  return `(values ${rows.join(', ')}) as home (status, failure_code, on_chain, account)`;
}

const ASSET = 'merchant_id, mode, network, currency';
const E_ASSET = 'e.merchant_id, e.mode, e.network, e.currency';

// `chain` is not compared: it is the other side of every posting, and each posting is checked to sum to zero.
const DEPOSIT = `
  select deposit_id, null::uuid as ledger_transaction_id, ${ASSET}, account, sum(expected) as expected, sum(found) as found,
    null::timestamptz as since
  from (
    select d.id as deposit_id, d.merchant_id, d.mode, d.network, d.currency, home.account, d.amount_units as expected, 0::numeric as found
    from deposits d join ${homes()}
      on home.status = d.status and home.failure_code = coalesce(d.failure_code, '') and home.on_chain = (d.block_hash is not null)
    where home.account <> 'chain'
    union all
    select t.deposit_id, ${E_ASSET}, e.account, 0, e.amount_units
    from ledger_entries e left join ledger_transactions t on t.id = e.transaction_id
    where e.account <> 'chain'
  ) sides
  group by deposit_id, ${ASSET}, account having sum(expected) <> sum(found)`;

// A deposit that came back after it had failed may be completed again: each completion of the audit trail has one credit.
const CREDIT = `
  select d.id as deposit_id, null::uuid as ledger_transaction_id, d.merchant_id, d.mode, d.network, d.currency, null::varchar as account,
    counted.expected, counted.found, null::timestamptz as since
  from deposits d
  left join (select deposit_id, count(*) as times from deposit_transitions where to_state = 'completed' group by 1) done on done.deposit_id = d.id
  left join (
    select deposit_id, count(*) as times from (
      select t.deposit_id, t.id from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
      where e.account = 'available' group by 1, 2 having sum(e.amount_units) > 0
    ) credits group by 1
  ) credited on credited.deposit_id = d.id
  cross join lateral (select
    greatest(coalesce(done.times, 0), case when d.status in ('completed', 'settled') then 1 else 0 end)::numeric as expected,
    coalesce(credited.times, 0)::numeric as found
  ) counted
  where counted.expected <> counted.found`;

const POSTING = `
  select t.deposit_id, e.transaction_id as ledger_transaction_id, ${E_ASSET}, null::varchar as account,
    0::numeric as expected, sum(e.amount_units) as found, t.created_at as since
  from ledger_entries e left join ledger_transactions t on t.id = e.transaction_id
  group by t.deposit_id, e.transaction_id, ${E_ASSET}, t.created_at having sum(e.amount_units) <> 0`;

const TOTAL = `
  select null::uuid as deposit_id, null::uuid as ledger_transaction_id, ${ASSET}, account, sum(expected) as expected, sum(found) as found,
    null::timestamptz as since
  from (
    select ${ASSET}, account, amount_units as expected, 0::numeric as found from ledger_entries
    union all select ${ASSET}, account, 0, amount_units from balance_totals
    union all select ${ASSET}, account, 0, amount_units from balance_changes
  ) sides
  group by ${ASSET}, account having sum(expected) <> sum(found)`;

const CHECKS: Readonly<Record<BooksCheck, string>> = { deposit: DEPOSIT, credit: CREDIT, posting: POSTING, total: TOTAL };
