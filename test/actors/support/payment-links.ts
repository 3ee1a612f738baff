// Payment links of a running gateway, as their tests look at them.
import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { LiveMoney } from '../../../dev/support/live-money.ts';
import type { Receiver } from '../../../dev/support/receiver.ts';
import type { PaymentLinkView } from '../../../src/contract/payment-link.ts';
import { getPaymentLink } from '../../../src/services/payment-links/reads.ts';

/** What a link shows and what its actor does. The gateway may start later than this is called. */
export function paymentLinksOf(live: () => LiveMoney) {
  const view = (id: string, mode: 'live' | 'test' = 'live') =>
    getPaymentLink(live().gateway.deps, { merchantId: live().merchantId, mode, id });
  const actor = (id: string): WorkflowHandle => {
    const handle = live().gateway.gateway.link?.client.workflow.getHandle(`payment:${id}`);
    if (!handle) throw new Error('Temporal is not linked');
    return handle;
  };
  const statusOf = async (id: string) =>
    await actor(id)
      .describe()
      .then((run) => run.status.name)
      .catch(() => undefined);
  return {
    view,
    actor,
    /** Of the actor; undefined where there is none. */
    statusOf,
    /** Waits until the link is in this state. */
    becomes: (id: string, status: string, limitMs = 40_000) =>
      eventually(
        `the link ${status}`,
        async () => (await view(id)).status === status,
        limitMs,
        () => view(id),
      ),
    /** Waits until the actor has ended by itself. */
    ends: (id: string, limitMs = 60_000) =>
      eventually(
        'the end of the actor',
        async () => (await statusOf(id)) === 'COMPLETED',
        limitMs,
        () => statusOf(id),
      ),
  };
}

/** What a receiver was told about this link, every attempt. */
export function bodies(receiver: Receiver, id: string): Receiver['requests'] {
  return receiver.requests.filter((request) => JSON.parse(request.body.toString()).data.id === id);
}

/**
 * Waits until both receivers were told that the link is completed: one event, one id and one body,
 * which shows the link as `view` does, with the signature of each one's own secret.
 */
export async function expectToldBy(
  receivers: readonly [Receiver, Receiver],
  id: string,
  view: () => Promise<PaymentLinkView>,
): Promise<void> {
  await eventually('both webhooks', () => receivers.every((one) => bodies(one, id).length > 0), 60_000);
  const all = receivers.flatMap((one) => bodies(one, id));
  expect(all.every((request) => request.verified)).to.equal(true);
  expect(new Set(all.map((request) => request.headers['x-webhook-id'])).size).to.equal(1);
  expect(new Set(all.map((request) => request.body.toString())).size).to.equal(1);
  const { event, data } = JSON.parse(String(all[0]?.body));
  expect(event).to.equal('payment.completed');
  const now = await view();
  const steady = (shown: PaymentLinkView) => ({
    ...shown,
    transactions: shown.transactions.map((row) => row.transaction_hash),
  });
  expect(steady(data)).to.deep.equal(steady(now));
  expect(now).to.include({ status: 'completed' });
}
