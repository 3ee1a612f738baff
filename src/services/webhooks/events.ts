import type { Em } from '../../db/orm.ts';
import { rows, type Statement, sql } from '../../db/sql.ts';
import type { Mode } from '../../domain/assets.ts';
import { type AnyEventType, isoSeconds, isSubscribed, type WebhookBody } from '../../domain/events.ts';
import type { TxDeps } from '../deps.ts';

export type NewEvent = {
  readonly merchantId: string;
  readonly mode: Mode;
  readonly type: AnyEventType;
  /** The deposit, customer, payment link or endpoint that the event is about. */
  readonly subjectId: string;
  /** The deposit's sequence, the payment link's number of events; 1 for a customer; random for a test. */
  readonly sequence: number;
  /** The resource in the form in which the API shows it. */
  readonly data: Record<string, unknown>;
  /**
   * A time that is stored with the fact and never changes. Subject, sequence and this
   * time make the event's id, so that a repeated step cannot make a second event.
   */
  readonly occurredAt: Date;
  /** Set for test events: only this endpoint gets the event, subscribed or not. */
  readonly onlyEndpointId?: string;
  /** An endpoint that gets the event beside the subscribed ones: the own URL of a payment link. */
  readonly alsoEndpointId?: string | undefined;
};

/**
 * `deliveryIds` are the deliveries to be sent. An event that existed already has neither id nor deliveries.
 */
export type RecordedEvent = { readonly eventId: string; readonly deliveryIds: readonly string[] };

/** Writes one event; see {@link recordEvents}. */
export async function recordEvent(em: Em, deps: TxDeps, event: NewEvent): Promise<RecordedEvent> {
  const [recorded] = await recordEvents(em, deps, [event]);
  return recorded ?? NOTHING;
}

/**
 * Writes events, their exact bytes and one delivery for each endpoint that subscribes to them, all
 * in the caller's transaction and in one statement for any number of them. For a disabled endpoint
 * the delivery is failed from the start, without an attempt, so that `resend-failed` brings it
 * once the endpoint is enabled again. Returns what was recorded, in the order of the events.
 */
export async function recordEvents(
  em: Em,
  deps: TxDeps,
  events: readonly NewEvent[],
): Promise<RecordedEvent[]> {
  if (events.length === 0) return [];
  const given = events.map((event, place) => ({ place, ...rowOf(event) }));
  const found = await rows(em, recordAll(JSON.stringify(given), deps.now()));
  const byPlace = new Map(
    found.map(({ place, id, deliveries }) => [place, { eventId: id, deliveryIds: deliveries ?? [] }]),
  );
  return given.map(({ place }) => byPlace.get(place) ?? NOTHING);
}

const NOTHING: RecordedEvent = { eventId: '', deliveryIds: [] };

function rowOf(event: NewEvent) {
  const body: WebhookBody = { event: event.type, data: event.data, timestamp: isoSeconds(event.occurredAt) };
  return {
    merchant_id: event.merchantId,
    mode: event.mode,
    type: event.type,
    common: isSubscribed(['*'], event.type),
    subject_id: event.subjectId,
    sequence: event.sequence,
    // Exactly the characters of the body: the database turns them into bytes and changes nothing else.
    body: JSON.stringify(body),
    occurred_at: event.occurredAt,
    only_endpoint: event.onlyEndpointId ?? null,
    also_endpoint: event.alsoEndpointId ?? null,
  };
}

// The endpoints are looked up by merchant and by id separately:
// one condition for both would read every endpoint there is.
function recordAll(
  events: string,
  now: Date,
): Statement<{ place: number; id: string; deliveries: string[] | null }> {
  return sql`
  with given as materialized (
    select distinct on (id) id_of_event(occurred_at, type, subject_id, sequence) as id, g.*, now.at
    from json_to_recordset(${events}::json) as g(place int, merchant_id uuid, mode text, type text,
      common boolean, subject_id uuid, sequence int, body text,
      occurred_at timestamptz, only_endpoint uuid, also_endpoint uuid), (select ${now}::timestamptz as at) now
    order by id, place
  ), event as (
    insert into events (id, merchant_id, mode, type, subject_id, sequence, body, occurred_at, created_at)
    select id, merchant_id, mode, type, subject_id, sequence, convert_to(body, 'UTF8'), occurred_at, at
      from given
    on conflict (id) do nothing returning id
  ), receiver as (
    select g.id as event_id, g.type, g.at, w.id, w.enabled,
      case g.mode when 'test' then g.merchant_id end as test_merchant_id
      from event join given g on g.id = event.id
      join webhook_endpoints w on w.merchant_id = g.merchant_id and w.mode = g.mode
        and w.payment_link_id is null and w.deleted_at is null
    where g.only_endpoint is null and (w.events @> array[g.type] or g.common and w.events @> array['*'])
    union
    select g.id, g.type, g.at, w.id, w.enabled, case g.mode when 'test' then g.merchant_id end from event
      join given g on g.id = event.id
      join webhook_endpoints w on w.id in (g.only_endpoint, g.also_endpoint) and w.deleted_at is null
  ), delivery as (
    insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, next_attempt_at,
      created_at, finished_at, test_merchant_id)
    select id_of_delivery(event_id, id), event_id, id, type,
      case when enabled then 'pending' else 'failed' end, 1,
      case when enabled then at end, at, case when not enabled then at end, test_merchant_id
    from receiver returning id, event_id, status
  )
  select g.place, event.id, d.deliveries from event join given g on g.id = event.id
    left join (select event_id, array_agg(id) as deliveries from delivery where status = 'pending'
      group by event_id) d on d.event_id = event.id`;
}
