import { PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import {
  amountStatusOf,
  LINK_CURRENCY,
  LINK_TRANSITIONS,
  type LinkStatus,
  statusOf,
} from '../../domain/payment-link.ts';
import type { TxDeps } from '../deps.ts';
import type { Tx } from '../transact.ts';
import { wakePayment } from './actor-message.ts';
import { announceLinks, type LinkFact } from './announce.ts';
import { lastPayment } from './money.ts';

/** A step that the table does not know: a defect, or two writers at once. Nothing was changed. */
export class IllegalLinkTransition extends Error {
  override readonly name = 'IllegalLinkTransition';
}

/** The link as it is under its customer's lock, whatever this transaction read before. */
export async function lockLink(em: Em, linkId: string): Promise<PaymentLink> {
  await run(
    em,
    sql`select c.id from customers c join payment_links l on l.customer_id = c.id where l.id = ${linkId}
      for no key update of c`,
  );
  return await em.findOneOrFail(PaymentLink, linkId, { refresh: true });
}

/**
 * Brings a link in line with its deposits, inside the transaction that changed one of them (and
 * flushed it; the database has updated the link's sums along with it): the status, and with the
 * first sum that is enough `completed` with its event and deliveries. Only an open link changes its
 * status, so it is completed once. A link that rests with less than it asks for says so, once for each sum
 * of what counts. Wakes the link's actor when the status changed or there is something to send. Returns the
 * link.
 */
export async function recountLink(tx: Tx, deps: TxDeps, linkId: string): Promise<PaymentLink> {
  const link = await lockLink(tx.em, linkId);
  await settle(tx, deps, [link]);
  return link;
}

/**
 * {@link recountLink} for any number of links, in a number of statements that
 * does not depend on how many there are, except that the last payment of
 * links which are completed by it is read one by one. The caller holds the locks of their customers.
 */
export async function recountLinks(tx: Tx, deps: TxDeps, linkIds: ReadonlySet<string>): Promise<void> {
  if (linkIds.size === 0) return;
  await settle(tx, deps, await tx.em.find(PaymentLink, { id: { $in: [...linkIds] } }, { refresh: true }));
}

async function settle(tx: Tx, deps: TxDeps, links: readonly PaymentLink[]): Promise<void> {
  const moved: PaymentLink[] = [];
  for (const link of links) {
    const next = statusOf(link.status, link);
    if (next === link.status) refreshAmountStatus(link);
    else {
      moveLink(deps, link, next);
      moved.push(link);
    }
  }
  const completed = moved.filter((link) => link.status === 'completed');
  for (const link of completed) {
    const last = await lastPayment(tx.em, link.id);
    link.paidNetwork = last?.network ?? null;
    link.paidCurrency = last ? LINK_CURRENCY : null;
    link.transactionHash = last?.transactionHash ?? null;
  }
  const partial = links.filter((link) => isNewPart(deps, link));
  const facts: LinkFact[] = [
    ...completed.map((link) => ({ link, type: 'payment.completed' as const })),
    ...partial.map((link) => ({ link, type: 'payment.partially_paid' as const })),
  ];
  const told = await announceLinks(tx.em, deps, facts);
  for (const link of new Set([...moved, ...told])) await wakePayment(tx, link);
}

/**
 * Whether a link rests with a part of its money that was not told yet; then it counts as told. What was taken
 * back, by a block that was replaced, is forgotten: the same sum of other payments is told again.
 */
function isNewPart(deps: TxDeps, link: PaymentLink): boolean {
  const isNew = link.status === 'partially_paid' && link.paidUnits !== link.partialUnits;
  if (isNew) link.updatedAt = deps.now();
  if (isNew || link.paidUnits < link.partialUnits) link.partialUnits = link.paidUnits;
  return isNew;
}

/**
 * Gives a locked link another status. Throws {@link IllegalLinkTransition}; the database would refuse it too.
 */
export function moveLink(deps: TxDeps, link: PaymentLink, to: LinkStatus): void {
  if (!LINK_TRANSITIONS[link.status].includes(to)) {
    throw new IllegalLinkTransition(`payment link ${link.id} cannot go from ${link.status} to ${to}`);
  }
  link.status = to;
  link.sequence += 1;
  link.stateSince = deps.now();
  link.updatedAt = link.stateSince;
  if (to === 'completed') link.completedAt = link.stateSince;
  refreshAmountStatus(link);
}

/** Sets how the money compares with the amount. */
export function refreshAmountStatus(link: PaymentLink): void {
  link.amountStatus = amountStatusOf(link);
}
