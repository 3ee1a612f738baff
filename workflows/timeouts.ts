// Every pause and limit of the workflows in one leaf file. No schedule-to-close
// anywhere: it would end an activity that may retry for ever.

/** Up to two seconds to wait for a socket, ten for the attempt, the rest for its records. */
export const DELIVER_START_TO_CLOSE_MS = 18_000;
/** A step is some SQL statements and at most one price. */
export const ADVANCE_START_TO_CLOSE_MS = 20_000;
/** A step of a settlement asks a chain's endpoints, which have half a minute together. */
export const SETTLE_START_TO_CLOSE_MS = 45_000;
export const OPERATOR_START_TO_CLOSE_MS = 10_000;
/** The watcher returns by itself long before this. */
export const WATCH_START_TO_CLOSE_MS = 2 * 60 * 60_000;
export const WATCH_HEARTBEAT_MS = 10_000;

/** Used only when an activity ended without saying when to come back: after a crash or a time-out. */
export const CRASH_RETRY = {
  initialInterval: 1_000,
  backoffCoefficient: 2,
  maximumInterval: 15_000,
} as const;

/**
 * How long an actor waits before it asks again, after an
 * activity ended in a way that only a person can cause.
 */
export const ASK_AGAIN_MS = 1_000;

export const WEBHOOK_TASK_QUEUE = 'webhooks';
/**
 * The queue of one chain's watcher: a worker takes one task of it and
 * asks for no other, so a frozen worker is never given the next try.
 */
export const chainTaskQueue = (network: string): string => `chain-${network}`;
export const NEEDS_OPERATOR = 'NeedsOperator';
export const DELIVERY_FAILED = 'DeliveryFailed';

/** What the signal does that every actor takes, for who finds it in the Web UI. */
export const ROW_CHANGED_MEANS =
  'Lets the actor read its row again at once. It carries nothing and does no harm.';
