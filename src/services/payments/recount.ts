import { PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { amountStatusOf, LINK_CURRENCY, LINK_TRANSITIONS, type LinkStatus, statusOf } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import { recordEvent } from '../events.ts';
import type { Tx } from '../transact.ts';
import { wakePayment } from './actor-message.ts';
import { type AssignedMoney, assignedMoney } from './money.ts';
import { paymentViews } from './present.ts';

/** A step that the table does not know: a defect, or two writers at once. Nothing was changed. */
export class IllegalLinkTransition extends Error {
  override readonly name = 'IllegalLinkTransition';
}

/** The link as it is under its customer's lock, whatever this transaction read before. */
export async function lockLink(em: Em, linkId: string): Promise<PaymentLink> {
  await em.execute('select c.id from customers c join payment_links l on l.customer_id = c.id where l.id = ? for no key update of c', [
    linkId,
  ]);
  return await em.findOneOrFail(PaymentLink, linkId, { refresh: true });
}

/**
 * Brings a link in line with the deposits assigned to it, inside the transaction that changed one of them (and flushed it): paid amount,
 * status, and with the first sum that is enough `completed` with its event and deliveries. Only an open link changes its status, so it is
 * completed once. Wakes the link's actor when the status changed. Returns the link and what is assigned to it.
 */
export async function recountLink(tx: Tx, deps: Deps, linkId: string): Promise<{ link: PaymentLink; money: AssignedMoney }> {
  const link = await lockLink(tx.em, linkId);
  const money = await assignedMoney(tx.em, linkId);
  const before = link.status;
  link.paidUnits = money.paidUnits;
  link.updatedAt = deps.now();
  const next = statusOf(before, { ...money, amountUnits: link.amountUnits, leastUnits: link.leastUnits });
  if (next !== before) moveLink(deps, link, next);
  else refreshAmountStatus(link);
  if (next === 'completed' && before !== 'completed') complete(link, money);
  await tx.em.flush();
  if (next === before) return { link, money };
  if (next === 'completed') await announceCompleted(tx.em, deps, link);
  await wakePayment(tx, link);
  return { link, money };
}

/** Gives a locked link another status. Throws {@link IllegalLinkTransition}; the database would refuse it too. */
export function moveLink(deps: Deps, link: PaymentLink, to: LinkStatus): void {
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

function complete(link: PaymentLink, { last }: AssignedMoney): void {
  link.paidNetwork = last?.network ?? null;
  link.paidCurrency = last ? LINK_CURRENCY : null;
  link.transactionHash = last?.transactionHash ?? null;
}

async function announceCompleted(em: Em, deps: Deps, link: PaymentLink): Promise<void> {
  const [view] = await paymentViews(em, [link]);
  await recordEvent(em, deps, {
    ...{ merchantId: link.merchantId, mode: link.mode, type: 'payment.completed', subjectId: link.id },
    sequence: 1,
    data: { ...view },
    occurredAt: link.completedAt ?? link.stateSince,
    alsoEndpointId: link.webhookUrl == null ? undefined : link.id,
  });
}
