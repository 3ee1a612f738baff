// The ledger against itself, the deposits, the payment links and the running totals.
import { openOrm } from '../../db/orm.ts';
import { findAsset } from '../../domain/assets.ts';
import { formatUnits } from '../../domain/money.ts';
import { LINK_DECIMALS } from '../../domain/payment-link.ts';
import { type AuditDifference, auditLedger, type LedgerAudit } from '../../services/ledger/audit.ts';
import { rebuildTotals } from '../../services/ledger/rebuild.ts';
import type { LinkDifference } from '../../services/payment-links/money.ts';
import { type View, type ViewColumn, viewOf, viewTable } from '../print.ts';
import { withGateway } from '../process.ts';
import { rateReporter } from '../rate.ts';
import type { CommandResult } from '../run.ts';

/** A page takes a second or two; this is the limit for one on a busy database. */
const STATEMENT_TIMEOUT_MS = 60_000;

/**
 * `reconcile --books`: needs the database alone, and changes nothing; a difference is a problem whose text
 * ends with the next action. With `rebuild` the totals are made again first.
 */
export async function reconcileBooks(
  rebuild: { readonly by: string | undefined; readonly reason: string } | undefined,
): Promise<CommandResult> {
  return await withGateway({ by: rebuild?.by }, async ({ deps }) => {
    const rebuilt = rebuild && (await rebuildTotals(deps, { reason: rebuild.reason }));
    const books = await auditBooks(deps.orm.config.get('clientUrl') ?? '');
    if (!rebuilt) return books;
    const { totals, changed } = rebuilt;
    return {
      ...books,
      json: { ok: books.problem === undefined, ...rebuilt, books: books.json },
      text: `Made ${totals} totals again from the ledger; ${changed} of them ${changed === 1 ? 'was' : 'were'} another amount before.\n${books.text}`,
    };
  });
}

/** The books of the database at this address. */
export async function auditBooks(url: string): Promise<CommandResult> {
  const limits = { poolSize: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const orm = await openOrm({ url, applicationName: 'gateway-books', ...limits });
  try {
    const say = { lines: rateReporter('ledger', 'lines'), deposits: rateReporter('deposits', 'deposits') };
    return resultOf(await auditLedger({ orm }, { progress: (what, done, total) => say[what](done, total) }));
  } finally {
    await orm.close(true);
  }
}

function resultOf(audit: LedgerAudit): CommandResult {
  const { deposits, lines, payouts, total } = audit;
  const differences = audit.differences.map(present);
  const links = audit.links.map(presentLink);
  return {
    json: { ok: total === 0, deposits, lines, payouts, total, differences, links },
    text:
      viewTable([...differences, ...links], COLUMNS) ||
      `The books agree: ${deposits} deposits, ${payouts} payouts, ${lines} lines of the ledger and the running totals.`,
    problem: total === 0 ? undefined : problemOf(audit),
  };
}

function problemOf({ total, differences, links }: LedgerAudit): string {
  const listed = differences.length + links.length;
  const count = `${total} ${total === 1 ? 'entry' : 'entries'} of the books ${total === 1 ? 'differs' : 'differ'}`;
  const shown = total > listed ? ` (the oldest ${listed} are shown)` : '';
  const next =
    links.length === 0 && differences.every(({ check }) => check === 'total')
      ? 'The ledger itself agrees: "gateway reconcile --books --rebuild-totals --by NAME --reason TEXT" makes the totals again from it.'
      : 'Back up the database as it is now, look at each deposit with "gateway deposit show", and go on as docs/operations.md says.';
  return `${count}${shown}. ${next}`;
}

const COLUMNS: readonly ViewColumn[] = [
  'check',
  ['ID', idOf],
  'network mode',
  ['STATE', ({ state, failure_code: code }) => (code == null ? state : `${state} (${code})`)],
  'account',
  ['EXPECTED', (view) => amountText(view, view['expected'])],
  ['FOUND', (view) => amountText(view, view['found'])],
  'since',
];

function idOf(view: View): unknown {
  if (view['check'] === 'posting') return view['ledger_transaction_id'];
  if (view['check'] === 'total') return `merchant ${view['merchant_id']}`;
  const payout = view['payout_id'] == null ? 'no deposit' : `payout ${view['payout_id']}`;
  return view['payment_link_id'] ?? view['deposit_id'] ?? payout;
}

function amountText({ check, currency }: View, amount: unknown): string {
  if (check !== 'link') return `${amount} ${check === 'credit' ? 'credits' : currency}`;
  const { assigned, paid, open } = amount as ReturnType<typeof sumsOf>;
  return `${assigned} assigned, ${paid} paid, ${open} open`;
}

function present(row: AuditDifference) {
  // What the product does not know (somebody edited the database), and a count of credits, have no decimals.
  const isCount = row.check === 'credit';
  const decimals = isCount ? 0 : (findAsset(row.network, row.currency)?.decimals ?? 0);
  return {
    ...viewOf(row),
    expected: formatUnits(row.expected, decimals),
    found: formatUnits(row.found, decimals),
    expected_raw: row.expected.toString(),
    found_raw: row.found.toString(),
  };
}

/** The stored sums of a link, and those of its deposits: assigned, paid, and how many are open. */
function presentLink({ linkId, kept, found }: LinkDifference) {
  return { check: 'link', payment_link_id: linkId, expected: sumsOf(found), found: sumsOf(kept) };
}

function sumsOf({ assignedUnits, paidUnits, openCount }: LinkDifference['kept']) {
  return {
    assigned: formatUnits(assignedUnits, LINK_DECIMALS),
    paid: formatUnits(paidUnits, LINK_DECIMALS),
    open: openCount,
  };
}
