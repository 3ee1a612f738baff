import type { Em } from '../db/orm.ts';
import type { Mode } from '../domain/assets.ts';
import { type AnyEventType, isoSeconds, type WebhookBody } from '../domain/events.ts';
import type { Deps } from './deps.ts';

export type NewEvent = {
  readonly merchantId: string;
  readonly mode: Mode;
  readonly type: AnyEventType;
  /** The deposit, customer, payment link or endpoint that the event is about. */
  readonly subjectId: string;
  /** One fact has one key, so that a repeated step cannot make a second event. */
  readonly dedupKey: string;
  /** The resource in the form in which the API shows it. */
  readonly data: Record<string, unknown>;
  readonly occurredAt: Date;
  /** Only this endpoint, subscribed or not: test events. */
  readonly onlyEndpointId?: string;
  /** This endpoint beside the subscribed ones: the own URL of a payment link. */
  readonly alsoEndpointId?: string | undefined;
};

/** The endpoints of a merchant and mode that subscribe to a type. */
const SUBSCRIBED = `w.payment_link_id is null and w.merchant_id = ? and w.mode = ? and (w.events @> array[?]::text[] or w.events @> array['*'])`;

/**
 * Writes an event, its exact bytes and one delivery for each endpoint that subscribes to it, all in the caller's transaction. For a
 * disabled endpoint the delivery is failed from the start, without an attempt, so that `resend-failed` brings it once the endpoint is
 * enabled again. Returns the ids of the deliveries to be sent; none when the event exists already.
 */
export async function recordEvent(em: Em, deps: Deps, event: NewEvent): Promise<{ eventId: string; deliveryIds: string[] }> {
  const body: WebhookBody = { event: event.type, data: event.data, timestamp: isoSeconds(event.occurredAt) };
  const eventId = deps.newId();
  const now = deps.now();
  const named = event.onlyEndpointId ? 'w.id = ?' : SUBSCRIBED;
  const chosen = event.alsoEndpointId ? `(w.id = ? or (${named}))` : named;
  const [row] = await em.execute<{ id: string; deliveries: string[] | null }[]>(
    `with event as (
       insert into events (id, merchant_id, mode, type, subject_id, dedup_key, body, occurred_at, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (dedup_key) do nothing returning id
     ), delivery as (
       insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, next_attempt_at, created_at, finished_at)
       select gen_random_uuid(), event.id, w.id, ?, case when w.enabled then 'pending' else 'failed' end, 1,
         case when w.enabled then ?::timestamptz end, ?, case when not w.enabled then ?::timestamptz end
       from event, webhook_endpoints w where w.deleted_at is null and ${chosen} returning id, status
     )
     select event.id, (select array_agg(id) from delivery where status = 'pending') as deliveries from event`,
    [
      ...[eventId, event.merchantId, event.mode, event.type, event.subjectId, event.dedupKey, Buffer.from(JSON.stringify(body))],
      ...[event.occurredAt, now, event.type, now, now, now],
      ...(event.alsoEndpointId ? [event.alsoEndpointId] : []),
      ...(event.onlyEndpointId ? [event.onlyEndpointId] : [event.merchantId, event.mode, event.type]),
    ],
  );
  return row ? { eventId, deliveryIds: row.deliveries ?? [] } : { eventId: '', deliveryIds: [] };
}
