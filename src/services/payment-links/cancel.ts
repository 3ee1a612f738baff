import type { PaymentLinkView } from '../../contract/payment-link.ts';
import { PaymentLink } from '../../db/entities/index.ts';
import { isUuid } from '../../domain/ids.ts';
import { recordAction } from '../audit/record.ts';
import type { TxDeps } from '../deps.ts';
import { notFound, Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import type { Tx } from '../transact.ts';
import { wakePayment } from './actor-message.ts';
import { announceLinks } from './announce.ts';
import { paymentViews } from './present.ts';
import { lockLink, moveLink } from './recount.ts';

/**
 * Closes a link, so that later money does not pay it. What was paid in part stays assigned,
 * for the merchant to decide. It is refused while a payment is on its way, which might
 * complete the link a moment later. A repeated cancel returns what the first one did. Throws
 * a {@link Refusal}: NOT_FOUND, or INVALID for a link that is paid, expired or being paid.
 */
export async function cancelPaymentLink(
  tx: Tx,
  deps: TxDeps,
  input: Scope & { readonly id: string },
): Promise<PaymentLinkView> {
  const { id, merchantId, mode } = input;
  const known = isUuid(id)
    ? await tx.em.findOne(PaymentLink, { id, merchantId, mode }, { fields: ['id'] })
    : null;
  if (!known) throw notFound('payment link');
  const link = await lockLink(tx.em, id);
  if (link.status === 'processing')
    throw new Refusal(
      'INVALID',
      'A payment of this link is being confirmed. Cancel it when that payment has failed or left a rest open.',
    );
  if (link.status === 'completed' || link.status === 'expired')
    throw new Refusal(
      'INVALID',
      `This payment link is ${link.status} already: only one that is open can be cancelled.`,
    );
  if (link.status !== 'cancelled') {
    const before = { status: link.status };
    moveLink(deps, link, 'cancelled');
    await announceLinks(tx.em, deps, [{ link, type: 'payment.cancelled' }]);
    await recordAction(tx.em, deps, {
      action: 'link.cancel',
      merchantId,
      mode,
      subject: id,
      before,
      after: { status: link.status },
    });
    await wakePayment(tx, link);
  }
  const [view] = await paymentViews(tx.em, [link]);
  if (!view) throw notFound('payment link');
  return view;
}
