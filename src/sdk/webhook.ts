import { createHmac, timingSafeEqual } from 'node:crypto';

/** The body of every webhook. */
export type WebhookEvent<Data = Record<string, unknown>> = {
  readonly event: string;
  readonly data: Data;
  /** ISO-8601, when it happened. */
  readonly timestamp: string;
};

export type WebhookErrorCode =
  | 'RAW_BODY_REQUIRED'
  | 'SECRET_REQUIRED'
  | 'HEADER_MISSING'
  | 'TIMESTAMP_INVALID'
  | 'TIMESTAMP_OUT_OF_TOLERANCE'
  | 'SIGNATURE_MISMATCH'
  | 'BODY_INVALID';

/** A webhook that must not be trusted: answer 400 and do nothing. `code` says why. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Node's `request.headers`, a fetch `Headers`, or any record; names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyWebhook = {
  /** The exact bytes that arrived. A parsed and re-serialised body has another signature. */
  readonly rawBody: Uint8Array | string;
  readonly headers: WebhookHeaders;
  /** The whole secret as shown at creation, `whsec_` included. */
  readonly secret: string;
  /** How far the sending time may differ from ours, in either direction. */
  readonly toleranceSeconds?: number;
  /** Our time in milliseconds; the system clock by default. */
  readonly now?: () => number;
};

/**
 * Verifies one webhook and returns its event. Either signature is enough:
 * `X-Webhook-Signature`, or the Standard Webhooks headers, which during a
 * rotation also carry the old secret's signature. Compares in constant time.
 *
 * A genuine webhook can arrive more than once: use `data.id`
 * (or `transaction_hash`) as the key when you credit.
 * @throws WebhookVerificationError
 */
export function verifyWebhook<Data = Record<string, unknown>>(input: VerifyWebhook): WebhookEvent<Data> {
  if (typeof input.rawBody !== 'string' && !(input.rawBody instanceof Uint8Array)) {
    fail('RAW_BODY_REQUIRED', 'rawBody must be the bytes or the text as received, not parsed JSON');
  }
  // An empty or cut-off secret must not verify anything: everybody knows that key.
  if (typeof input.secret !== 'string' || input.secret.trim().length < MIN_SECRET_CHARACTERS) {
    fail('SECRET_REQUIRED', 'the signing secret is missing or incomplete');
  }
  const body = Buffer.from(input.rawBody as string);
  const proof = ownProof(input, body) ?? standardProof(input, body);
  if (!proof) fail('HEADER_MISSING', 'the webhook has no signature headers');
  if (!proof.matches) fail('SIGNATURE_MISMATCH', 'the signature does not match the body and the secret');
  return parseEvent<Data>(body);
}

export type TestEvent = {
  readonly secret: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly id?: string;
  /** When it is sent, in milliseconds; the system clock by default. */
  readonly now?: () => number;
};

/** A signed event as the gateway would send it, for the tests of a receiver. */
export function signTestEvent(input: TestEvent): {
  readonly rawBody: string;
  readonly headers: Record<string, string>;
} {
  const seconds = Math.floor((input.now ?? Date.now)() / 1000);
  const timestamp = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  const rawBody = JSON.stringify({ event: input.event, data: input.data, timestamp });
  const id = input.id ?? '00000000-0000-4000-8000-000000000000';
  const body = Buffer.from(rawBody);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Service-Webhook/1.0',
    'x-webhook-signature': hmac(input.secret, `${timestamp}.`, body).toString('hex'),
    'x-webhook-timestamp': timestamp,
    'x-webhook-id': id,
    'x-webhook-event': input.event,
    'x-webhook-attempt': '1',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${hmac(standardKey(input.secret), `${id}.${seconds}.`, body).toString('base64')}`,
  };
  return { rawBody, headers };
}

type Proof = { readonly matches: boolean };

/**
 * The API's own scheme; undefined when its headers are absent, or when it fails while the
 * other scheme's headers are present: the other one decides then, by its own timestamp.
 */
function ownProof(input: VerifyWebhook, body: Buffer): Proof | undefined {
  const signature = header(input.headers, 'x-webhook-signature');
  const timestamp = header(input.headers, 'x-webhook-timestamp');
  const hasOther = header(input.headers, 'webhook-signature') !== undefined;
  if (signature === undefined || timestamp === undefined) return undefined;
  const given = Buffer.from(/^[0-9a-f]{64}$/i.test(signature) ? signature : '', 'hex');
  const matches = isEqual(hmac(input.secret, `${timestamp}.`, body), given);
  if (!matches && hasOther) return undefined;
  const isIso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/.test(timestamp);
  checkTime(input, isIso ? Date.parse(timestamp) : Number.NaN);
  return { matches };
}

function standardProof(input: VerifyWebhook, body: Buffer): Proof | undefined {
  const id = header(input.headers, 'webhook-id');
  const timestamp = header(input.headers, 'webhook-timestamp');
  const signatures = header(input.headers, 'webhook-signature');
  if (id === undefined || timestamp === undefined || signatures === undefined) return undefined;
  const key = standardKey(input.secret);
  // The secret does not decode: an empty key would accept anybody's signature.
  if (key.length < MIN_KEY_BYTES) return { matches: false };
  checkTime(input, /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN);
  const expected = hmac(key, `${id}.${timestamp}.`, body);
  const given = signatures.split(' ', MAX_SIGNATURES).filter((entry) => entry.startsWith('v1,'));
  return { matches: given.some((entry) => isEqual(expected, Buffer.from(entry.slice(3), 'base64'))) };
}

const MIN_SECRET_CHARACTERS = 16;
/** The least that Standard Webhooks allows. */
const MIN_KEY_BYTES = 24;

/** Far more than a rotation ever needs; an attacker's long list costs no time. */
const MAX_SIGNATURES = 16;

function checkTime(input: VerifyWebhook, sentMs: number): void {
  if (Number.isNaN(sentMs)) fail('TIMESTAMP_INVALID', 'the timestamp header is not a time');
  const toleranceMs = (input.toleranceSeconds ?? 300) * 1000;
  // Written so that a tolerance that is not a number causes a refusal, not acceptance.
  if (Math.abs((input.now ?? Date.now)() - sentMs) <= toleranceMs) return;
  fail('TIMESTAMP_OUT_OF_TOLERANCE', 'the webhook was sent too long ago, or one of the clocks is wrong');
}

function parseEvent<Data>(body: Buffer): WebhookEvent<Data> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    fail('BODY_INVALID', 'the body is not JSON');
  }
  const isEvent =
    typeof parsed === 'object' &&
    parsed !== null &&
    'event' in parsed &&
    'data' in parsed &&
    'timestamp' in parsed;
  if (!isEvent) fail('BODY_INVALID', 'the body is not an event');
  return parsed as WebhookEvent<Data>;
}

/**
 * One header's value. A repeated header is treated as absent: which of the values was meant cannot be known.
 */
function header(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const record = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  const value = Object.entries(record).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string') return value;
  return value?.length === 1 ? value[0] : undefined;
}

function standardKey(secret: string): Buffer {
  return Buffer.from(secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret, 'base64');
}

function hmac(key: string | Buffer, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}

function isEqual(expected: Buffer, given: Buffer): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}

function fail(code: WebhookErrorCode, message: string): never {
  throw new WebhookVerificationError(code, message);
}
