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
};

/**
 * Writes an event, its exact bytes and one delivery for each enabled endpoint that subscribes to it, all in the caller's transaction.
 * Returns the ids of the new deliveries; none when the event exists already.
 */
export async function recordEvent(em: Em, deps: Deps, event: NewEvent): Promise<{ eventId: string; deliveryIds: string[] }> {
  const body: WebhookBody = { event: event.type, data: event.data, timestamp: isoSeconds(event.occurredAt) };
  const eventId = deps.newId();
  const now = deps.now();
  const inserted = await em.execute<{ id: string }[]>(
    `insert into events (id, merchant_id, mode, type, subject_id, dedup_key, body, occurred_at, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (dedup_key) do nothing returning id`,
    [
      eventId,
      event.merchantId,
      event.mode,
      event.type,
      event.subjectId,
      event.dedupKey,
      Buffer.from(JSON.stringify(body)),
      event.occurredAt,
      now,
    ],
  );
  if (inserted.length === 0) return { eventId: '', deliveryIds: [] };
  const endpoints = await em.execute<{ id: string }[]>(
    event.onlyEndpointId
      ? 'select id from webhook_endpoints where id = ? and deleted_at is null'
      : `select id from webhook_endpoints where merchant_id = ? and mode = ? and enabled and deleted_at is null and (events @> array[?]::text[] or events @> array['*'])
         order by created_at, id`,
    event.onlyEndpointId ? [event.onlyEndpointId] : [event.merchantId, event.mode, event.type],
  );
  const deliveryIds: string[] = [];
  for (const endpoint of endpoints) {
    const id = deps.newId();
    deliveryIds.push(id);
    await em.execute(
      `insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, next_attempt_at, created_at) values (?, ?, ?, ?, 'pending', 1, ?, ?)`,
      [id, eventId, endpoint.id, event.type, now, now],
    );
  }
  return { eventId, deliveryIds };
}
