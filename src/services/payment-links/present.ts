import type { PaymentLinkView } from '../../contract/payment-link.ts';
import type { PaymentTransactionView } from '../../contract/payment-transaction.ts';
import { Customer, Deposit, type PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { plainRows } from '../../db/plain-rows.ts';
import { rows, type Statement, sql } from '../../db/sql.ts';
import { isoSeconds, isoSecondsOrNull } from '../../domain/events.ts';
import { centsToJsonNumber } from '../../domain/money.ts';
import { linkCents } from '../../domain/payment-link.ts';
import { DEPOSIT_FIELDS, type DepositRow, presentDeposit } from '../deposits/present.ts';
import { headNumbers } from '../deposits/reads.ts';

/** What a view needs beside the row: the email of the customer, and the assigned deposits, oldest first. */
export type PaymentContext = {
  readonly email: string | null;
  readonly transactions: readonly PaymentTransactionView[];
};

/** What {@link presentPayment} reads of a link. */
export const LINK_FIELDS = [
  ...([
    'id',
    'mode',
    'token',
    'url',
    'status',
    'amountStatus',
    'amountCents',
    'currency',
    'paidUnits',
    'description',
  ] as const),
  ...([
    'externalId',
    'metadata',
    'successUrl',
    'cancelUrl',
    'customerId',
    'webhookUrl',
    'paidNetwork',
    'paidCurrency',
  ] as const),
  ...(['transactionHash', 'expiresAt', 'createdAt', 'completedAt', 'eventSequence'] as const),
] as const;
export type LinkRow = Pick<PaymentLink, (typeof LINK_FIELDS)[number]>;

/**
 * The link with its money in USD, 1 USDT for 1 USD. A completed
 * link has nothing missing, even if it was short by the tolerance.
 */
export function presentPayment(row: LinkRow, more: PaymentContext): PaymentLinkView {
  const paidCents = linkCents(row.paidUnits);
  const missing = row.status === 'completed' ? 0n : row.amountCents - paidCents;
  return {
    id: row.id,
    token: row.token,
    url: row.url,
    status: row.status,
    amount_status: row.amountStatus,
    amount_usd: centsToJsonNumber(row.amountCents),
    currency: row.currency,
    paid_amount_usd: centsToJsonNumber(paidCents),
    remaining_amount_usd: centsToJsonNumber(missing > 0n ? missing : 0n),
    overpaid_amount_usd: centsToJsonNumber(paidCents > row.amountCents ? paidCents - row.amountCents : 0n),
    description: row.description ?? null,
    external_id: row.externalId ?? null,
    metadata: row.metadata,
    success_url: row.successUrl ?? null,
    cancel_url: row.cancelUrl ?? null,
    customer_id: row.customerId,
    email: more.email,
    webhook_url: row.webhookUrl ?? null,
    paid_network: row.paidNetwork ?? null,
    paid_currency: row.paidCurrency ?? null,
    transaction_hash: row.transactionHash ?? null,
    transactions: [...more.transactions],
    sequence: row.eventSequence,
    expires_at: isoSeconds(row.expiresAt),
    created_at: isoSeconds(row.createdAt),
    completed_at: isoSecondsOrNull(row.completedAt),
    is_live: row.mode === 'live',
  };
}

/** The views of some links in their order, in a few queries for any number of them. */
export async function paymentViews(em: Em, rows: readonly LinkRow[]): Promise<PaymentLinkView[]> {
  if (rows.length === 0) return [];
  const customerIds = [...new Set(rows.map((row) => row.customerId))];
  const customers = await plainRows(em, Customer, { id: { $in: customerIds } }, ['id', 'email']);
  const emails = new Map(customers.map((customer) => [customer.id, customer.email ?? null]));
  const transactions = await transactionsOf(
    em,
    rows.map((row) => row.id),
  );
  return rows.map((row) =>
    presentPayment(row, {
      email: emails.get(row.customerId) ?? null,
      transactions: transactions.get(row.id) ?? [],
    }),
  );
}

/**
 * A payer may pay a link in thousands of small parts; only the first ones are shown, but all of them count.
 */
export const MAX_TRANSACTIONS_SHOWN = 100;
/** Of those that failed, the newest, dust last, which anybody can send: none hides one that counts. */
const MAX_FAILED_SHOWN = 20;
/** The deposits that are shown of the link `l`, with when they were first. */
export const OF_LINK = sql`(select id, created_at from deposits
    where payment_link_id = l.id and status <> 'failed'
    order by created_at, id limit ${MAX_TRANSACTIONS_SHOWN})
  union all (select id, created_at from deposits
    where payment_link_id = l.id and status = 'failed'
    order by failure_code = 'BELOW_MINIMUM', created_at desc, id desc limit ${MAX_FAILED_SHOWN})`;
/** Of what came too late: none of it counts. */
export const MAX_LATE_SHOWN = 20;
/**
 * The deposits that are shown as too late for the link `l`, with when they were first. What was mined once
 * more and pays a link now came too late for none.
 */
export const LATE_OF_LINK = sql`select o.deposit_id as id, o.at as created_at from late_payments o
  join deposits p on p.id = o.deposit_id and p.payment_link_id is null
  where o.payment_link_id = l.id order by o.at, o.deposit_id limit ${MAX_LATE_SHOWN}`;

/**
 * The deposits that were sent for links, oldest first: at most {@link MAX_TRANSACTIONS_SHOWN} of each that
 * count or wait, and some that failed.
 */
export async function transactionsOf(
  em: Em,
  linkIds: readonly string[],
): Promise<Map<string, PaymentTransactionView[]>> {
  return await shownOf(em, OF_LINK, linkIds);
}

/** The same of the deposits that came after the end of their link, at most {@link MAX_LATE_SHOWN} of each. */
export async function lateTransactionsOf(
  em: Em,
  linkIds: readonly string[],
): Promise<Map<string, PaymentTransactionView[]>> {
  return linkIds.length === 0 ? new Map() : await shownOf(em, LATE_OF_LINK, linkIds);
}

/** `ofLink` selects the deposits that are shown of the link `l`. */
async function shownOf(
  em: Em,
  ofLink: Statement<unknown>,
  linkIds: readonly string[],
): Promise<Map<string, PaymentTransactionView[]>> {
  const byLink = new Map<string, PaymentTransactionView[]>();
  const found = await rows(
    em,
    sql<{ id: string; linkId: string }>`select d.id, l.id as link_id from payment_links l cross join lateral (
       ${ofLink}
     ) d where l.id = any(${linkIds}) order by d.created_at, d.id`,
  );
  if (found.length === 0) return byLink;
  const paid = await plainRows(em, Deposit, { id: { $in: found.map((row) => row.id) } }, DEPOSIT_FIELDS);
  const deposits = new Map(paid.map((row) => [row.id, row]));
  const heads = await headNumbers(em);
  for (const row of found) {
    const deposit = deposits.get(row.id);
    if (!deposit) continue;
    const list = byLink.get(row.linkId) ?? [];
    list.push(presentTransaction(deposit, heads.get(deposit.network) ?? null));
    byLink.set(row.linkId, list);
  }
  return byLink;
}

function presentTransaction(deposit: DepositRow, headNumber: number | null): PaymentTransactionView {
  const { transaction_hash, network, amount, confirmations, status, failure_code } = presentDeposit(deposit, {
    externalId: null,
    email: null,
    headNumber,
  });
  return { transaction_hash, network, amount, confirmations, status, failure_code };
}
