import type { PaymentLink } from '../../db/entities/index.ts';
import type { ActorMessage, PaymentLinkActorInput } from '../../domain/actor-message.ts';
import { isoSeconds } from '../../domain/events.ts';
import { paymentWorkflowId, ROW_CHANGED } from '../../domain/ids.ts';
import { formatUnits } from '../../domain/money.ts';
import type { Tx } from '../transact.ts';

/**
 * The start of a link's actor, with what an operator sees in
 * a list. The token is not in it: it opens the payer's page.
 */
export function paymentStart(link: PaymentLink): ActorMessage {
  const input: PaymentLinkActorInput = { linkId: link.id };
  const amount = `${formatUnits(link.amountCents, 2)} ${link.currency}`;
  return {
    workflowType: 'paymentLink',
    args: [input],
    attributes: {
      MerchantId: link.merchantId,
      // The attribute that operators filter by, for every actor:
      // the type of the workflow tells whose stage it is.
      DepositStage: link.status,
      StageSince: isoSeconds(link.stateSince),
      NeedsOperator: false,
      ...(link.network == null ? {} : { Network: link.network }),
    },
    memo: {
      payment_link_id: link.id,
      customer_id: link.customerId,
      amount,
      expires_at: isoSeconds(link.expiresAt),
    },
    summary: `payment link of ${amount}${link.mode === 'test' ? ' (test mode)' : ''}`,
    owner: { merchantId: link.merchantId, mode: link.mode },
  };
}

/** Tells the link's actor that its row has changed; one that has ended is started again. */
export function paymentWake(link: PaymentLink): ActorMessage {
  return { ...paymentStart(link), signal: { name: ROW_CHANGED, args: [] } };
}

/**
 * Tells the link's actor in the same transaction as the fact that changed its row; see {@link paymentWake}.
 */
export async function wakePayment(tx: Tx, link: PaymentLink): Promise<void> {
  await tx.enqueue(paymentWorkflowId(link.id), paymentWake(link));
}
