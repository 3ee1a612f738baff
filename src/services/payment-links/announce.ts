import type { Deposit, PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { assetOf } from '../../domain/assets.ts';
import type { EventType } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import type { TxDeps } from '../deps.ts';
import { recordEvents } from '../webhooks/events.ts';
import { paymentViews } from './present.ts';

/** What happened to a link that this transaction holds locked. */
export type LinkFact = {
  readonly link: PaymentLink;
  readonly type: Extract<EventType, `payment.${string}`>;
  /** The deposit that came too late. */
  readonly late?: Deposit | undefined;
};

/**
 * Writes the events of links in the transaction of their facts, and flushes what changed of the links. Each
 * takes the next number of its link, so that it has an id that no other event has. Only `payment.completed`
 * also goes to the link's own URL. Returns the links for which there is something to be sent.
 */
export async function announceLinks(
  em: Em,
  deps: TxDeps,
  facts: readonly LinkFact[],
): Promise<readonly PaymentLink[]> {
  for (const { link } of facts) link.eventSequence += 1;
  await em.flush();
  if (facts.length === 0) return [];
  const views = await paymentViews(
    em,
    facts.map(({ link }) => link),
  );
  const recorded = await recordEvents(
    em,
    deps,
    facts.map(({ link, type, late }, index) => ({
      merchantId: link.merchantId,
      mode: link.mode,
      type,
      subjectId: link.id,
      sequence: link.eventSequence,
      data: { ...views[index], ...(late === undefined ? {} : { late_payment: latePayment(late) }) },
      occurredAt: link.updatedAt,
      alsoEndpointId: type === 'payment.completed' && link.webhookUrl != null ? link.id : undefined,
    })),
  );
  return facts.flatMap(({ link }, index) => (recorded[index]?.deliveryIds.length ? [link] : []));
}

function latePayment({ id, network, currency, amountUnits, transactionHash }: Deposit) {
  const amount = formatUnits(amountUnits, assetOf(network, currency).decimals);
  return { deposit_id: id, transaction_hash: transactionHash, network, amount };
}
