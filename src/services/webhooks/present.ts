import type { EndpointView } from '../../contract/endpoint.ts';
import type { DeliveryView, ListedEventView } from '../../contract/event.ts';
import type { Event, WebhookAttempt, WebhookDelivery, WebhookEndpoint } from '../../db/entities/index.ts';
import { isoSeconds, isoSecondsOrNull } from '../../domain/events.ts';

/** The endpoint without its secret: only the answers that make one carry it, and they add it themselves. */
export function presentEndpoint(row: WebhookEndpoint): EndpointView {
  return {
    id: row.id,
    url: row.url,
    description: row.description ?? null,
    events: [...row.events],
    enabled: row.enabled,
    is_live: row.mode === 'live',
    secret_hint: row.secretHint,
    last_delivery_at: isoSecondsOrNull(row.lastDeliveryAt),
    last_status_code: row.lastStatusCode ?? null,
    consecutive_failures: row.consecutiveFailures,
    disabled_reason: row.disabledReason ?? null,
    created_at: isoSeconds(row.createdAt),
    updated_at: isoSeconds(row.updatedAt),
  };
}

/** What {@link presentEvent} reads of an event. */
export const EVENT_FIELDS = [
  'id',
  'type',
  'subjectId',
  'sequence',
  'occurredAt',
  'createdAt',
  'body',
] as const;

/** An event as the API shows it, without its deliveries. The body is UTF-8, so as text it keeps its bytes. */
export function presentEvent(row: Pick<Event, (typeof EVENT_FIELDS)[number]>): ListedEventView {
  const payload = new TextDecoder('utf-8', { ignoreBOM: true }).decode(row.body);
  const { data } = JSON.parse(payload) as { data: Record<string, unknown> };
  return {
    id: row.id,
    event: row.type,
    subject_id: row.subjectId,
    sequence: row.sequence,
    data,
    payload,
    timestamp: isoSeconds(row.occurredAt),
    created_at: isoSeconds(row.createdAt),
  };
}

/** What {@link presentDelivery} reads of a delivery. */
export const DELIVERY_FIELDS = [
  'id',
  'eventId',
  'endpointId',
  'eventType',
  'status',
  'createdAt',
  'nextAttemptAt',
] as const;
export type DeliveryRow = Omit<Pick<WebhookDelivery, (typeof DELIVERY_FIELDS)[number]>, 'nextAttemptAt'> & {
  readonly nextAttemptAt?: Date | null | undefined;
};
export type AttemptRow = Pick<WebhookAttempt, 'round' | 'number' | 'startedAt'> & {
  readonly statusCode?: number | null | undefined;
  readonly error?: string | null | undefined;
  readonly durationMs?: number | null | undefined;
};

/**
 * The delivery with the attempts given, in their order. `round` is 1
 * at first and rises with each resend; `number` starts again with it.
 */
export function presentDelivery(row: DeliveryRow, attempts: readonly AttemptRow[]): DeliveryView {
  return {
    id: row.id,
    event_id: row.eventId,
    endpoint_id: row.endpointId,
    event: row.eventType,
    status: row.status,
    attempts: attempts.map((attempt) => ({
      round: attempt.round,
      number: attempt.number,
      started_at: isoSeconds(attempt.startedAt),
      status_code: attempt.statusCode ?? null,
      error: attempt.error ?? null,
      duration_ms: attempt.durationMs ?? null,
    })),
    next_attempt_at: row.status === 'pending' ? isoSecondsOrNull(row.nextAttemptAt) : null,
    created_at: isoSeconds(row.createdAt),
  };
}
