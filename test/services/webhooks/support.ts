import { migratedDatabase } from '../../../dev/support/parts.ts';
import { type Receiver, type Script, startReceiver } from '../../../dev/support/receiver.ts';
import { createEndpoint, sendTestEvent, updateEndpoint } from '../../../dev/support/use-cases.ts';
import type { EventView } from '../../../src/contract/event.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { type DeliverResult, deliverWebhook } from '../../../src/services/webhooks/deliver.ts';
import { getEndpoint } from '../../../src/services/webhooks/endpoints.ts';
import { createLookup } from '../../../src/services/webhooks/http/lookup.ts';
import { createWebhookTransport } from '../../../src/services/webhooks/http/transport.ts';
import { createDeliverySlots } from '../../../src/services/webhooks/slots.ts';
import { testDeps } from '../../support/gateway.ts';

export type Bench = Awaited<ReturnType<typeof startDeliveries>>;

export type Target = {
  readonly receiver: Receiver;
  readonly endpointId: string;
  readonly secret: string;
  readonly scope: { readonly merchantId: string; readonly mode: 'test' };
};

/** The id of an event's only delivery. */
export const idOf = (event: EventView): string => event.deliveries[0]?.id ?? 'none';

/** Deliveries without Temporal, on a real database and real sockets, by a clock that the test moves. */
export async function startDeliveries() {
  const database = await migratedDatabase();
  let nowMs = Date.parse('2026-11-20T09:30:00Z');
  const base = await testDeps(database.url, [], { deps: { now: () => new Date(nowMs) } });
  const policy = { allowHttp: true, allowedCidrs: ['127.0.0.0/8'] };
  const transport = createWebhookTransport({
    lookup: createLookup({ useSystem: true }),
    policy,
    now: () => performance.now(),
  });
  const deps = { ...base, transport, slots: createDeliverySlots() };
  const receivers: Receiver[] = [];

  const target = async (behaviour: Script): Promise<Target> => {
    const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
    const scope = { merchantId, mode: 'test' as const };
    const receiver = await startReceiver({ behaviour });
    receivers.push(receiver);
    const { id, secret } = await createEndpoint(deps, {
      ...scope,
      url: receiver.url,
      events: ['*'],
      description: null,
    });
    receiver.setSecret(secret);
    return { receiver, endpointId: id, secret, scope };
  };
  const make = (to: Target): Promise<EventView> => sendTestEvent(deps, { ...to.scope, id: to.endpointId });
  const deliver = (event: EventView): Promise<DeliverResult> =>
    deliverWebhook(deps, { deliveryId: idOf(event) });
  return {
    deps: deps as Deps & typeof deps,
    target,
    make,
    deliver,
    deliverId: (deliveryId: string): Promise<DeliverResult> => deliverWebhook(deps, { deliveryId }),
    /** A new event with one attempt. */
    attempt: async (to: Target) => await deliver(await make(to)),
    /** A new event until its end; the clock moves by the pauses. */
    toTheEnd: async (to: Target): Promise<DeliverResult> => {
      const event = await make(to);
      for (;;) {
        const result = await deliver(event);
        if (result.kind === 'done') return result;
        nowMs += result.delayMs;
      }
    },
    endpoint: (to: Target) => getEndpoint(deps, { ...to.scope, id: to.endpointId }),
    enable: (to: Target) => updateEndpoint(deps, { ...to.scope, id: to.endpointId, enabled: true }),
    pass: (ms: number) => {
      nowMs += ms;
    },
    now: () => nowMs,
    sql: <T>(text: string, values: unknown[] = []) => deps.orm.em.fork().execute<T[]>(text, values),
    heldSlots: async (to: Target): Promise<number> =>
      (
        await deps.orm.em
          .fork()
          .execute<unknown[]>(
            'select 1 from webhook_slots where owner_id = ? and held_until > clock_timestamp()',
            [to.endpointId],
          )
      ).length,
    stop: async () => {
      await deps.orm.close(true);
      await database.drop();
      for (const receiver of receivers) await receiver.stop();
    },
  };
}
