import { OperatorError } from '../../../base/errors.ts';
import { Deposit, PaymentLink } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { sql } from '../../../db/sql.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { paymentWorkflowId } from '../../../domain/ids.ts';
import { formatUnits } from '../../../domain/money.ts';
import { LINK_DECIMALS, type LinkStatus } from '../../../domain/payment-link.ts';
import type { Deps } from '../../../services/deps.ts';
import type { Pages } from '../../../services/find/found.ts';
import { readGiven } from '../../../services/find/given.ts';
import { requireKnownMerchant } from '../../../services/merchants/known.ts';
import { describeLink } from '../../../services/payment-links/overdue.ts';
import { depositViews } from '../deposits/deposit-reads.ts';
import { requireCustomer } from './customer-rows.ts';
import { eventsAbout } from './event-rows.ts';
import { inOrderOf, newestIds } from './newest.ts';

const DEPOSITS_SHOWN = 100;

type Filters = {
  readonly merchant?: string;
  readonly customer?: string;
  readonly status?: LinkStatus;
  readonly externalId?: string;
  readonly limit: number;
};

/** Payment links of every merchant, newest first. Refuses an unknown merchant or customer. */
export async function listAllLinks(deps: Deps, { merchant, customer, status, externalId, limit }: Filters) {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, merchant);
  if (customer !== undefined) await requireCustomer(deps, customer);
  if (customer === undefined && externalId === undefined) {
    const only = status === undefined ? sql`true` : sql`t.status = ${status}`;
    const ids = await newestIds(em, { table: 'payment_links', merchant, mode: undefined, only, limit });
    return inOrderOf(ids, await em.find(PaymentLink, { id: { $in: ids } })).map(viewOf);
  }
  const where = {
    ...(merchant ? { merchantId: merchant } : {}),
    ...(customer ? { customerId: customer } : {}),
    ...(status ? { status } : {}),
    ...(externalId ? { externalId } : {}),
  };
  const found = await em.find(PaymentLink, where, { limit, orderBy: { createdAt: 'desc', id: 'desc' } });
  return found.map(viewOf);
}

/** One link with what holds it, its deposits and its events. Throws an OperatorError where there is none. */
export async function readLink(deps: Deps, pages: Pages, given: string) {
  const em = deps.orm.em.fork();
  const link = await requireLink(em, given);
  const deposits = await em.find(
    Deposit,
    { paymentLinkId: link.id },
    { orderBy: { createdAt: 'asc', id: 'asc' }, limit: DEPOSITS_SHOWN },
  );
  return {
    ...(await describeLink(em, deps, link)),
    ...viewOf(link),
    description: link.description ?? null,
    metadata: link.metadata,
    webhook_url: link.webhookUrl ?? null,
    deposits: await depositViews(em, deposits),
    events: await eventsAbout(em, link.id),
    links: {
      checkout: link.url,
      dashboard: pages.dashboard(link.mode, `/links/${link.id}`),
      temporal: pages.workflow(paymentWorkflowId(link.id)),
    },
  };
}

async function requireLink(em: Em, given: string): Promise<PaymentLink> {
  const { id, text } = readGiven(given);
  const link = await em.findOne(PaymentLink, id === undefined ? { token: text } : { id });
  if (!link)
    throw new OperatorError(
      `There is no payment link ${text.slice(0, 100)}`,
      'List them with "gateway payment list", or look with "gateway find"',
    );
  return link;
}

function viewOf(row: PaymentLink) {
  const money = (units: bigint): string => formatUnits(units, LINK_DECIMALS);
  return {
    id: row.id,
    status: row.status,
    amount_status: row.amountStatus,
    is_live: row.mode === 'live',
    merchant_id: row.merchantId,
    customer_id: row.customerId,
    external_id: row.externalId ?? null,
    amount: money(row.amountUnits),
    paid: money(row.paidUnits),
    currency: row.currency,
    network: row.network ?? null,
    created_at: isoSeconds(row.createdAt),
    expires_at: isoSeconds(row.expiresAt),
    state_since: isoSeconds(row.stateSince),
    completed_at: row.completedAt == null ? null : isoSeconds(row.completedAt),
  };
}
