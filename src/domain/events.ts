/** The events that `"*"` stands for, in the order of a deposit's life. It never stands for more. */
export const COMMON_EVENTS = [
  'deposit.detected',
  'deposit.confirming',
  'deposit.completed',
  'deposit.settled',
  'deposit.failed',
  'customer.created',
  'payment.completed',
] as const;

/** Events that an endpoint gets only when it names them. */
export const NAMED_EVENTS = [
  'payment.partially_paid',
  'payment.late',
  'payment.expired',
  'payment.cancelled',
] as const;

/** Every event type. These are also the names that an endpoint may subscribe to. */
export const EVENT_TYPES = [...COMMON_EVENTS, ...NAMED_EVENTS] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * Sent by hand to try an endpoint; it cannot be subscribed to because it is always
 * delivered to the endpoint that asked for it.
 */
export const TEST_EVENT = 'webhook.test';
export type AnyEventType = EventType | typeof TEST_EVENT;

const COMMON: ReadonlySet<string> = new Set(COMMON_EVENTS);

/** Whether an endpoint that subscribes to these names or `"*"` gets the event. */
export function isSubscribed(names: readonly string[], type: string): boolean {
  return names.includes(type) || (names.includes('*') && COMMON.has(type));
}

/** The body of a webhook as the receiver parses it. `data` is the resource in the form the API shows it. */
export type WebhookBody = {
  readonly event: AnyEventType;
  readonly data: Record<string, unknown>;
  readonly timestamp: string;
};

/** Whole seconds, UTC, as in every answer. */
export function isoSeconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** The same for a time that may be missing. */
export function isoSecondsOrNull(date: Date | null | undefined): string | null {
  return date ? isoSeconds(date) : null;
}
