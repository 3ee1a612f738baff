/**
 * The waits between attempts, from the end of one to the start of the next. Five attempts use the first four.
 */
export const BACKOFF_MS = [1_000, 5_000, 15_000, 60_000, 300_000] as const;

/** Attempts of one delivery unless the operator sets `WEBHOOK_MAX_ATTEMPTS`. */
export const DEFAULT_MAX_ATTEMPTS = 5;

/** Bounds of one attempt. Times in milliseconds, sizes in bytes. */
export const WEBHOOK_LIMITS = {
  /**
   * Name lookup, connection, TLS, status line and headers together; the body is read in what is left of it.
   */
  attemptMs: 10_000,
  /** How long saving an endpoint waits for its name to resolve. */
  saveLookupMs: 2_000,
  bodyReadBytes: 64 * 1024,
  bodyStoredBytes: 4 * 1024,
  responseHeaderBytes: 16 * 1024,
  informationalResponses: 16,
  /** Vetted addresses of one name that are tried one after the other. */
  connectAddresses: 4,
  urlCharacters: 2048,
} as const;

export const USER_AGENT = 'Service-Webhook/1.0';

/**
 * Every header of a delivery that a receiver may read. The last three are those
 * of the Standard Webhooks specification.
 */
export const WEBHOOK_HEADERS = {
  signature: 'X-Webhook-Signature',
  timestamp: 'X-Webhook-Timestamp',
  id: 'X-Webhook-Id',
  event: 'X-Webhook-Event',
  attempt: 'X-Webhook-Attempt',
  standardId: 'webhook-id',
  standardTimestamp: 'webhook-timestamp',
  standardSignature: 'webhook-signature',
} as const;

/** Why an attempt got no HTTP answer. `TARGET_REFUSED` means that we did not connect at all. */
export type AttemptErrorCode =
  | 'TARGET_REFUSED'
  | 'DNS'
  | 'CONNECT'
  | 'TLS'
  | 'TIMEOUT'
  | 'RESET'
  | 'PROTOCOL';

/**
 * What one attempt ended with. `durationMs` runs from the start of the name
 * lookup to the complete response header, or to the failure. `bodyText` holds at
 * most 4 KiB of UTF-8 without NUL; `message` is one short plain sentence part.
 */
export type Outcome =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly bodyText: string;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'error';
      readonly code: AttemptErrorCode;
      readonly message: string;
      readonly durationMs: number;
    };

export type Verdict = 'succeeded' | 'retry' | 'final';

/**
 * Decides what an outcome means for its delivery: 2xx succeeded; 5xx, 429 and every missing
 * response are retried; every other status is final, 3xx too, because a redirect is never
 * followed. A refused target is retried as well: names are resolved again each time, and a wrong
 * answer of a name server may be gone a minute later.
 */
export function classify(outcome: Outcome): Verdict {
  if (outcome.kind === 'error') return 'retry';
  if (outcome.status >= 200 && outcome.status <= 299) return 'succeeded';
  return outcome.status === 429 || (outcome.status >= 500 && outcome.status <= 599) ? 'retry' : 'final';
}

/**
 * The wait in milliseconds after failed attempt number `attemptNumber` (from 1).
 * Never 0, which Temporal would read as "do not retry"; past the end of the table
 * the last entry holds. Throws a RangeError on anything but a positive integer.
 */
export function backoffAfterMs(attemptNumber: number): number {
  if (!Number.isInteger(attemptNumber) || attemptNumber < 1)
    throw new RangeError(`attempts are counted from 1, got ${attemptNumber}`);
  return BACKOFF_MS[Math.min(attemptNumber, BACKOFF_MS.length) - 1] ?? BACKOFF_MS[0];
}

/** One line for operators and merchants, under 200 characters: "HTTP 503 from shop.example, 812 ms". */
export function describeOutcome(outcome: Outcome, host: string): string {
  const where = host.length > 80 ? `${host.slice(0, 79)}…` : host;
  const what =
    outcome.kind === 'response'
      ? `HTTP ${outcome.status} from ${where}`
      : `${outcome.message.slice(0, 100)}: ${where}`;
  return `${what}, ${Math.round(outcome.durationMs)} ms`;
}
