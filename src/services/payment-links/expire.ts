import type { PaymentLinkView } from '../../contract/payment-link.ts';
import { PaymentLink } from '../../db/entities/index.ts';
import { isOpenLink } from '../../domain/payment-link.ts';
import { recordAction } from '../audit/record.ts';
import type { TxDeps } from '../deps.ts';
import { notFound, Refusal } from '../refusal.ts';
import type { Tx } from '../transact.ts';
import { wakePayment } from './actor-message.ts';
import { TOKEN_PATTERN } from './create.ts';
import { paymentViews } from './present.ts';
import { lockLink } from './recount.ts';

/**
 * Lets the time of a test link be over now, and tells its actor, which then ends the link as it ends every
 * link whose time is over: the answer may still show it open. Asked again, it changes nothing. Throws a
 * {@link Refusal}: NOT_FOUND for a link of real money too, or LINK_CLOSED for one that is paid or cancelled.
 */
export async function expirePaymentLink(
  tx: Tx,
  deps: TxDeps,
  input: { readonly merchantId: string; readonly token: string },
): Promise<PaymentLinkView> {
  const { merchantId, token } = input;
  const mode = 'test' as const;
  const known = TOKEN_PATTERN.test(token)
    ? await tx.em.findOne(PaymentLink, { token, merchantId, mode }, { fields: ['id'] })
    : null;
  if (!known) throw notFound('payment link');
  const link = await lockLink(tx.em, known.id);
  if (link.status === 'completed' || link.status === 'cancelled')
    throw new Refusal(
      'LINK_CLOSED',
      `This payment link is ${link.status} already: only one that is open can expire.`,
    );
  const now = deps.now();
  if (isOpenLink(link.status) && now < link.expiresAt) {
    const before = { expires_at: link.expiresAt.toISOString() };
    link.expiresAt = now;
    link.updatedAt = now;
    await tx.em.flush();
    const after = { expires_at: now.toISOString() };
    await recordAction(tx.em, deps, {
      action: 'link.expire',
      merchantId,
      mode,
      subject: link.id,
      before,
      after,
    });
    await wakePayment(tx, link);
  }
  const [view] = await paymentViews(tx.em, [link]);
  if (!view) throw notFound('payment link');
  return view;
}
