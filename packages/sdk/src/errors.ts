/**
 * What the API said, or why there is no answer of it: `NO_ANSWER` (the connection broke),
 * `TIMEOUT`, or `INVALID_ANSWER` (a proxy's page, say).
 */
export type KnownErrorCode =
  | 'VALIDATION_ERROR'
  | 'AMOUNT_TOO_SMALL'
  | 'INVALID_JSON'
  | 'UNAUTHORIZED'
  | 'SUBSCRIPTION_REQUIRED'
  | 'IP_NOT_ALLOWED'
  | 'TEST_MODE_ONLY'
  | 'SESSION_REQUIRED'
  | 'STEP_UP_REQUIRED'
  | 'SCOPE_REQUIRED'
  | 'CSRF'
  | 'QUOTA_REACHED'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'CUSTOMER_EXISTS'
  | 'PAYMENT_LINK_CLOSED'
  | 'IDEMPOTENCY_CONFLICT'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'RATE_LIMITED'
  | 'DAILY_QUOTA_REACHED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'NO_ANSWER'
  | 'TIMEOUT'
  | 'INVALID_ANSWER';

/** A later version of the API may have codes that are not known here. */
export type GatewayErrorCode = KnownErrorCode | (string & Record<never, never>);

export type GatewayErrorDetail = { path: string; message: string };

export type GatewayErrorInit = {
  readonly status: number;
  readonly code: GatewayErrorCode;
  readonly details?: readonly GatewayErrorDetail[] | undefined;
  readonly field?: string | undefined;
  readonly minimum?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly attempts: number;
  readonly cause?: unknown;
};

/**
 * A request that did not succeed, after all retries that were safe. With `status` 0, a 5xx or
 * `INVALID_ANSWER` a POST may have taken effect or not: send it again with `idempotencyKey` and it takes
 * effect once. The message holds no key and no secret.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  /** The HTTP status; 0 where no answer came. */
  readonly status: number;
  readonly code: GatewayErrorCode;
  /** What is wrong with which member of the request. */
  readonly details: readonly GatewayErrorDetail[];
  /** With CUSTOMER_EXISTS: the field that is taken. */
  readonly field: string | undefined;
  /** With AMOUNT_TOO_SMALL: the smallest amount in USD. */
  readonly minimum: number | undefined;
  /** Names the request in the gateway's log. */
  readonly requestId: string | undefined;
  /** Seconds after which the gateway asks the client to try again. */
  readonly retryAfter: number | undefined;
  /** The key of a POST, given or made. */
  readonly idempotencyKey: string | undefined;
  /** How often it was sent. */
  readonly attempts: number;

  constructor(message: string, init: GatewayErrorInit) {
    super(message, init.cause === undefined ? {} : { cause: init.cause });
    this.status = init.status;
    this.code = init.code;
    this.details = init.details ?? [];
    this.field = init.field;
    this.minimum = init.minimum;
    this.requestId = init.requestId;
    this.retryAfter = init.retryAfter;
    this.idempotencyKey = init.idempotencyKey;
    this.attempts = init.attempts;
  }
}
