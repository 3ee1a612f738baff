import { IsolationLevel } from '@mikro-orm/core';
import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import type { DepositState, FailureCode } from '../../domain/deposit.ts';
import type { LedgerAccount } from '../../domain/ledger.ts';
import type { Deps } from '../deps.ts';
import { type LinkDifference, linkDifferences } from '../payment-links/money.ts';
import { type AuditRow, depositPages, type LineSum, linePages, totalsOf } from './audit-pages.ts';
import { payoutPages } from './audit-payouts.ts';

/**
 * What does not agree. `deposit`: an account holds another amount of the deposit than
 * its state demands. `credit`: the deposit was credited more or less often than it
 * was completed (a count, no amount). `posting`: the lines of one ledger transaction
 * do not sum to zero. `payout`: a payout is not the sum of its deposits, or a settled deposit belongs to no
 * settled payout. `total`: a running total is not the sum of its lines.
 */
export type AuditCheck = 'deposit' | 'credit' | 'posting' | 'payout' | 'total';

export type AuditDifference = {
  readonly check: AuditCheck;
  /** Null for a total, and for lines that belong to no deposit. */
  readonly depositId: string | null;
  readonly transactionHash: string | null;
  /** Null where there is no such deposit. */
  readonly state: DepositState | null;
  readonly failureCode: FailureCode | null;
  /** Set for a posting alone. */
  readonly ledgerTransactionId: string | null;
  /** Set for a payout alone. */
  readonly payoutId: string | null;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly network: Network;
  readonly currency: Currency;
  /** Null for a credit, a posting and the whole of a payout. */
  readonly account: LedgerAccount | null;
  /** In base units; for a credit, the number of credits. */
  readonly expected: bigint;
  readonly found: bigint;
  /** When the deposit, or the posting, was recorded; null for a total. */
  readonly since: Date | null;
};

export type LedgerAudit = {
  readonly deposits: number;
  readonly lines: number;
  readonly payouts: number;
  /** How many differences there are; `differences` holds the oldest 1,000 of them. */
  readonly total: number;
  readonly differences: readonly AuditDifference[];
  /**
   * Payment links whose kept sums are not those of their deposits, at most 1,000; all are counted in `total`.
   */
  readonly links: readonly LinkDifference[];
};

const MAX_LISTED = 1_000;
/** Sorts before every id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export type AuditOptions = {
  /** Rows of the first page; the next ones are as large as a second or two allows. */
  readonly pageRows?: number;
  /** Called with how much of what is done; `total` is the database's own estimate. */
  readonly progress?: (what: 'lines' | 'deposits', done: number, total: number) => void;
};

/**
 * Compares the ledger with itself, with the deposits and with the running totals, in one snapshot,
 * so that it may run beside everything else; it changes nothing. `partsOf` says what a state
 * demands. Works in pages along primary keys, so that no statement takes long however many lines
 * there are; the whole takes longer the more lines there are, and holds its snapshot that long.
 */
export async function auditLedger(
  deps: Pick<Deps, 'orm'>,
  { pageRows = 5_000, progress }: AuditOptions = {},
): Promise<LedgerAudit> {
  return await deps.orm.em.fork().transactional(
    async (em) => {
      const found = new Found();
      const sums = new Map<string, LineSum>();
      const headless = new Map<string, LineSum>();
      let lines = 0;
      let deposits = 0;
      const size = await sizeOf(em);
      for await (const page of linePages(em, pageRows)) {
        lines += page.lines;
        for (const row of page.postings) found.add('posting', row);
        for (const sum of page.sums) addTo(sums, sum);
        for (const sum of page.headless) addTo(headless, sum);
        progress?.('lines', lines, Math.max(lines, size.lines));
      }
      for (const sum of headless.values())
        if (sum.units !== 0n) found.add('deposit', withoutDeposit(sum, 0n, sum.units));
      for await (const page of depositPages(em, pageRows)) {
        deposits += page.deposits;
        for (const row of page.homes) found.add('deposit', row);
        for (const row of page.credits) found.add('credit', row);
        progress?.('deposits', deposits, Math.max(deposits, size.deposits));
      }
      let payouts = 0;
      for await (const page of payoutPages(em, pageRows)) {
        payouts += page.payouts;
        for (const row of page.differences) found.add('payout', row);
      }
      for (const row of compareTotals(sums, await totalsOf(em))) found.add('total', row);
      const links = await differingLinks(em, pageRows);
      return {
        deposits,
        lines,
        payouts,
        total: found.total + links.length,
        differences: found.oldest(),
        links: links.slice(0, MAX_LISTED),
      };
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
  );
}

async function differingLinks(em: Em, pageRows: number): Promise<LinkDifference[]> {
  const found: LinkDifference[] = [];
  for (let afterId: string | undefined = FIRST_ID; afterId !== undefined; ) {
    const page: Awaited<ReturnType<typeof linkDifferences>> = await linkDifferences(em, {
      afterId,
      limit: pageRows,
    });
    found.push(...page.differences);
    afterId = page.last;
  }
  return found;
}

/** How many rows there are by the planner's estimate: counting them would mean reading them. */
async function sizeOf(em: Em): Promise<{ deposits: number; lines: number }> {
  const row = await firstRow(
    em,
    sql<{
      deposits: number | null;
      lines: number | null;
    }>`select sum(greatest(c.reltuples, 0)) filter (where t.name = 'deposits')::float8 as deposits,
       sum(greatest(c.reltuples, 0)) filter (where t.name = 'ledger_entries')::float8 as lines
     from (values ('deposits'), ('ledger_entries')) as t (name)
     join pg_class c on c.oid = t.name::regclass
       or c.oid in (select inhrelid from pg_inherits where inhparent = t.name::regclass)`,
  );
  return { deposits: row?.deposits ?? 0, lines: row?.lines ?? 0 };
}

/** The differences that were found: all are counted, the oldest are kept. */
class Found {
  total = 0;
  #kept: AuditDifference[] = [];

  add(check: AuditCheck, row: AuditRow): void {
    this.total += 1;
    this.#kept.push(present(check, row));
    if (this.#kept.length >= 4 * MAX_LISTED) this.#kept = this.oldest();
  }

  oldest(): AuditDifference[] {
    return this.#kept
      .toSorted((a, b) => age(a) - age(b) || compareTexts(orderOf(a), orderOf(b)))
      .slice(0, MAX_LISTED);
  }
}

function age({ since }: AuditDifference): number {
  // Not infinity: the difference of two infinities is no number.
  return since?.getTime() ?? Number.MAX_SAFE_INTEGER;
}

function orderOf(row: AuditDifference): string {
  return [
    row.check,
    row.depositId,
    row.ledgerTransactionId,
    row.payoutId,
    row.merchantId,
    row.mode,
    row.network,
    row.currency,
    row.account,
  ].join(' ');
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function addTo(sums: Map<string, LineSum>, sum: LineSum): void {
  const key = keyOf(sum);
  const known = sums.get(key);
  sums.set(key, known ? { ...known, units: known.units + sum.units } : sum);
}

function keyOf({ merchantId, mode, network, currency, account }: LineSum | AuditRow): string {
  return [merchantId, mode, network, currency, account].join(' ');
}

function compareTotals(lines: ReadonlyMap<string, LineSum>, totals: readonly LineSum[]): AuditRow[] {
  const open = new Map(lines);
  const rows: AuditRow[] = [];
  for (const total of totals) {
    const expected = open.get(keyOf(total))?.units ?? 0n;
    open.delete(keyOf(total));
    if (expected !== total.units) rows.push(withoutDeposit(total, expected, total.units));
  }
  for (const line of open.values()) if (line.units !== 0n) rows.push(withoutDeposit(line, line.units, 0n));
  return rows.toSorted((a, b) => compareTexts(keyOf(a), keyOf(b)));
}

function withoutDeposit(
  { merchantId, mode, network, currency, account }: LineSum,
  expected: bigint,
  found: bigint,
): AuditRow {
  return {
    depositId: null,
    ledgerTransactionId: null,
    payoutId: null,
    transactionHash: null,
    state: null,
    failureCode: null,
    since: null,
    merchantId,
    mode,
    network,
    currency,
    account,
    expected: expected.toString(),
    found: found.toString(),
  };
}

function present(check: AuditCheck, row: AuditRow): AuditDifference {
  const since = row.since === null ? null : new Date(row.since);
  return { ...row, check, expected: BigInt(row.expected), found: BigInt(row.found), since };
}
