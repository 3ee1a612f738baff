import type { GateFull } from '../base/async/fair-gate.ts';
import { OutOfTime } from '../base/async/within.ts';
import { centsToJsonNumber } from '../domain/money.ts';
import { NoPriceYet } from '../services/deposits/simulate.ts';
import { AmountTooSmall, Refusal, type RefusalCode, Refusals } from '../services/refusal.ts';

/** Every error code of the API with its status: the one vocabulary. */
export const ERROR_STATUS = {
  VALIDATION_ERROR: 400,
  AMOUNT_TOO_SMALL: 400,
  INVALID_JSON: 400,
  UNAUTHORIZED: 401,
  SUBSCRIPTION_REQUIRED: 403,
  IP_NOT_ALLOWED: 403,
  TEST_MODE_ONLY: 403,
  SESSION_REQUIRED: 403,
  STEP_UP_REQUIRED: 403,
  SCOPE_REQUIRED: 403,
  CSRF: 403,
  QUOTA_REACHED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CUSTOMER_EXISTS: 409,
  PAYMENT_LINK_CLOSED: 409,
  IDEMPOTENCY_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  DAILY_QUOTA_REACHED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

export type ErrorDetail = { readonly path: string; readonly message: string };

/** Members of an error's body beside `error` and `code`. */
export type ErrorExtra = {
  readonly details?: readonly ErrorDetail[];
  readonly field?: string;
  readonly minimum?: number;
};

/** An error answer. The message is a plain sentence for the caller: no stack, SQL, path or version in it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly extra: ErrorExtra;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    sentence: string,
    more: { extra?: ErrorExtra; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(sentence, { cause: more.cause });
    this.code = code;
    this.status = ERROR_STATUS[code];
    this.extra = more.extra ?? {};
    this.headers = more.headers ?? {};
  }

  /** The JSON body of the answer. */
  toBody(): Record<string, unknown> {
    return { error: this.message, code: this.code, ...this.extra };
  }
}

const OF_REFUSAL: Readonly<Record<RefusalCode, ErrorCode>> = {
  INVALID: 'VALIDATION_ERROR',
  NOT_FOUND: 'NOT_FOUND',
  CUSTOMER_EXISTS: 'CUSTOMER_EXISTS',
  LINK_CLOSED: 'PAYMENT_LINK_CLOSED',
  AMOUNT_TOO_SMALL: 'AMOUNT_TOO_SMALL',
  STEP_UP_REQUIRED: 'STEP_UP_REQUIRED',
  TOO_MUCH_OPEN: 'RATE_LIMITED',
  QUOTA_REACHED: 'QUOTA_REACHED',
  DAILY_QUOTA_REACHED: 'DAILY_QUOTA_REACHED',
};

/** In how many seconds to ask again, for refusals that go away with time alone. */
const AGAIN_AFTER_S: Partial<Record<RefusalCode, number>> = { TOO_MUCH_OPEN: 10, DAILY_QUOTA_REACHED: 3_600 };

/**
 * Turns whatever was thrown into an answer: refusals by their
 * code, outages into 503, everything else into a bare 500.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Refusal) {
    const seconds = AGAIN_AFTER_S[error.code];
    const headers: Record<string, string> = seconds === undefined ? {} : { 'Retry-After': `${seconds}` };
    return new ApiError(OF_REFUSAL[error.code], error.message, { extra: extraOf(error), headers });
  }
  if (error instanceof NoPriceYet)
    return unavailable(error, 'There is no price for this currency yet. Try again in a moment.');
  if (isOutage(error)) return unavailable(error);
  return new ApiError('INTERNAL', 'Something went wrong on our side. Nothing is wrong with the request.', {
    cause: error,
  });
}

/** Whether credentials were refused. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'UNAUTHORIZED';
}

/** The answer while a part that we need is unreachable. */
export function unavailable(
  cause: unknown,
  sentence = 'The service is not available at the moment. Try again in a few seconds.',
): ApiError {
  return new ApiError('UNAVAILABLE', sentence, { cause, headers: { 'Retry-After': '2' } });
}

/**
 * The answer to a caller that had no turn in time: 429 where the caller's own requests were before it, which
 * is no outage, and 503 where those of others were. `what` is the plural of what takes turns.
 */
export function noTurn(error: GateFull, what: string): ApiError {
  if (!error.behindOwn)
    return unavailable(error, `Too many ${what} are being read at the moment. Try again in a few seconds.`);
  const sentence = `Too many ${what} at the same time. Send one after the other, and try again in a few seconds.`;
  return new ApiError('RATE_LIMITED', sentence, { headers: { 'Retry-After': '2' }, cause: error });
}

function extraOf(refusal: Refusal): ErrorExtra {
  if (refusal.field === undefined) return {};
  if (refusal.code === 'CUSTOMER_EXISTS') return { field: refusal.field };
  if (refusal instanceof AmountTooSmall) return { minimum: centsToJsonNumber(refusal.minimumCents) };
  const each = refusal instanceof Refusals ? refusal.each : [refusal];
  return { details: each.map(({ field = '', message }) => ({ path: field, message })) };
}

const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
]);

/**
 * SQLSTATE classes that mean "not now": 08 connection, 53 resources, 57 shutdown and statement
 * timeout, 58 system, 28 and 3D a server that does not know us (yet), 40 deadlock, 55P03 lock
 * timeout, 25P03 a transaction that the server gave up, 25006 a server that became a replica.
 */
const OUTAGE_SQLSTATE = /^(08|28|40|53|57|58)[0-9A-Z]{3}$|^(3D000|55P03|25P03|25006)$/;

/** The messages of connection errors, for which pg has no codes. */
const OUTAGE_TEXT =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Query read timeout/;

function isOutage(error: unknown): boolean {
  for (
    let current = error, depth = 0;
    current instanceof Error && depth < 5;
    current = current.cause, depth += 1
  ) {
    const code = 'code' in current && typeof current.code === 'string' ? current.code : '';
    if (current instanceof OutOfTime || SOCKET_CODES.has(code) || OUTAGE_SQLSTATE.test(code)) return true;
    if (OUTAGE_TEXT.test(current.message)) return true;
    if (current instanceof AggregateError && current.errors.some(isOutage)) return true;
  }
  return false;
}
