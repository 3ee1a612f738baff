import { findAsset } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import { LINK_DECIMALS } from '../../domain/payment-link.ts';
import type { AuditDifference, LedgerAudit } from '../../services/ledger/audit.ts';
import type { LinkDifference } from '../../services/payment-links/money.ts';
import { rateReporter } from '../rate.ts';
import type { CommandResult } from '../run.ts';
import { table } from '../table.ts';

/** A page takes a second or two; this is the limit for one on a busy database. */
const STATEMENT_TIMEOUT_MS = 60_000;

/**
 * `reconcile --books`: needs the database alone. Promises to change nothing; a difference is
 * a problem whose text ends with the next action.
 */
export async function reconcileBooks(): Promise<CommandResult> {
  const { withGateway } = await import('../process.ts');
  return await withGateway({}, ({ deps }) => auditBooks(deps.orm.config.get('clientUrl') ?? ''));
}

/** The same of the database at this address. */
export async function auditBooks(url: string): Promise<CommandResult> {
  const [{ auditLedger }, { openOrm }] = await Promise.all([
    import('../../services/ledger/audit.ts'),
    import('../../db/orm.ts'),
  ]);
  const orm = await openOrm({
    url,
    poolSize: 1,
    applicationName: 'gateway-books',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    const say = { lines: rateReporter('ledger', 'lines'), deposits: rateReporter('deposits', 'deposits') };
    return resultOf(await auditLedger({ orm }, { progress: (what, done, total) => say[what](done, total) }));
  } finally {
    await orm.close(true);
  }
}

function resultOf(audit: LedgerAudit): CommandResult {
  const { deposits, lines, payouts, total } = audit;
  const rows = [...audit.differences.map(lineOf), ...audit.links.map(lineOfLink)];
  const agree = `The books agree: ${deposits} deposits, ${payouts} payouts, ${lines} lines of the ledger and the running totals.`;
  return {
    json: {
      ok: total === 0,
      deposits,
      lines,
      payouts,
      total,
      differences: audit.differences.map(present),
      links: audit.links.map(presentLink),
    },
    text:
      rows.length === 0
        ? agree
        : table(['CHECK', 'ID', 'NETWORK', 'STATE', 'ACCOUNT', 'EXPECTED', 'FOUND', 'SINCE'], rows),
    problem: total === 0 ? undefined : problemOf(audit),
  };
}

function problemOf({ total, differences, links }: LedgerAudit): string {
  const count = `${total} ${total === 1 ? 'entry' : 'entries'} of the books ${total === 1 ? 'differs' : 'differ'}`;
  const shown =
    total > differences.length + links.length
      ? ` (the oldest ${differences.length + links.length} are shown)`
      : '';
  const next =
    links.length === 0 && differences.every(({ check }) => check === 'total')
      ? 'The ledger itself agrees: "gateway totals rebuild --by NAME --reason TEXT" makes the totals again from it.'
      : 'Back up the database as it is now, look at each deposit with "gateway deposit show", and go on as docs/operations.md says.';
  return `${count}${shown}. ${next}`;
}

function lineOf(row: AuditDifference): readonly unknown[] {
  const { depositId, ledgerTransactionId, payoutId, merchantId, state, failureCode, check } = row;
  const id =
    check === 'posting'
      ? ledgerTransactionId
      : check === 'total'
        ? `merchant ${merchantId}`
        : (depositId ?? (payoutId === null ? 'no deposit' : `payout ${payoutId}`));
  const amount = (units: bigint): string =>
    check === 'credit' ? `${units} credits` : `${amountOf(row, units)} ${row.currency}`;
  const standing = failureCode === null ? state : `${state} (${failureCode})`;
  const since = row.since ? isoSeconds(row.since) : null;
  return [
    check,
    id,
    `${row.network} ${row.mode}`,
    standing,
    row.account,
    amount(row.expected),
    amount(row.found),
    since,
  ];
}

/** The stored sums of a link, and those of its deposits: assigned, paid, and how many are open. */
function lineOfLink({ linkId, kept, found }: LinkDifference): readonly unknown[] {
  const sums = ({ assignedUnits, paidUnits, openCount }: LinkDifference['kept']): string =>
    `${formatUnits(assignedUnits, LINK_DECIMALS)} assigned, ${formatUnits(paidUnits, LINK_DECIMALS)} paid, ${openCount} open`;
  return ['link', linkId, null, null, null, sums(found), sums(kept), null];
}

function presentLink({ linkId, kept, found }: LinkDifference) {
  const sums = ({ assignedUnits, paidUnits, openCount }: LinkDifference['kept']) => ({
    assigned: formatUnits(assignedUnits, LINK_DECIMALS),
    paid: formatUnits(paidUnits, LINK_DECIMALS),
    open: openCount,
  });
  return { check: 'link', payment_link_id: linkId, expected: sums(found), found: sums(kept) };
}

function present(row: AuditDifference) {
  return {
    check: row.check,
    deposit_id: row.depositId,
    transaction_hash: row.transactionHash,
    state: row.state,
    failure_code: row.failureCode,
    ledger_transaction_id: row.ledgerTransactionId,
    payout_id: row.payoutId,
    merchant_id: row.merchantId,
    mode: row.mode,
    network: row.network,
    currency: row.currency,
    account: row.account,
    expected: amountOf(row, row.expected),
    found: amountOf(row, row.found),
    expected_raw: row.expected.toString(),
    found_raw: row.found.toString(),
    since: row.since ? isoSeconds(row.since) : null,
  };
}

/**
 * A decimal string; a count of credits, and an amount of an asset that the product does not know
 * (somebody edited the database), are shown as they are.
 */
function amountOf({ check, network, currency }: AuditDifference, units: bigint): string {
  return formatUnits(units, check === 'credit' ? 0 : (findAsset(network, currency)?.decimals ?? 0));
}
