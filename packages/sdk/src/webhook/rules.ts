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
  readonly rawBody: Uint8Array | ArrayBuffer | string;
  readonly headers: WebhookHeaders;
  /** The whole secret as shown at creation, `whsec_` included; a line end after it counts for nothing. */
  readonly secret: string;
  /** How far the sending time may differ from ours, in either direction. */
  readonly toleranceSeconds?: number;
  /** Our time in milliseconds; the system clock by default. */
  readonly now?: () => number;
};

export type TestEvent = {
  readonly secret: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly id?: string;
  /** When it is sent, in milliseconds; the system clock by default. */
  readonly now?: () => number;
};

export type SignedEvent = {
  readonly rawBody: string;
  readonly headers: Record<string, string>;
};

/** An HMAC-SHA256 that the rules ask the platform for. */
export type Digest = { readonly key: Uint8Array; readonly message: Uint8Array };
/** Rules that stop wherever they need a digest: the platform gives it at once, or later. */
export type Rules<Result> = Generator<Digest, Result, Uint8Array>;

const MIN_SECRET_CHARACTERS = 16;
/** The least that Standard Webhooks allows. */
const MIN_KEY_BYTES = 24;
/** Far more than a rotation ever needs; an attacker's long list costs no time. */
const MAX_SIGNATURES = 16;

/** What makes a webhook genuine. Ends with the event, or throws a {@link WebhookVerificationError}. */
export function* verifying<Data>(given: VerifyWebhook): Rules<WebhookEvent<Data>> {
  const body = bytesOf(given.rawBody);
  if (!body) fail('RAW_BODY_REQUIRED', 'rawBody must be the bytes or the text as received, not parsed JSON');
  const secret = typeof given.secret === 'string' ? given.secret.trim() : '';
  // An empty or cut-off secret must not verify anything: everybody knows that key.
  if (secret.length < MIN_SECRET_CHARACTERS)
    fail('SECRET_REQUIRED', 'the signing secret is missing or incomplete');
  const input = { ...given, secret };
  const matches = (yield* ownProof(input, body)) ?? (yield* standardProof(input, body));
  if (matches === undefined) fail('HEADER_MISSING', 'the webhook has no signature headers');
  if (!matches) fail('SIGNATURE_MISMATCH', 'the signature does not match the body and the secret');
  return parseEvent<Data>(body);
}

/** An event signed as the gateway signs it. */
export function* signing(given: TestEvent): Rules<SignedEvent> {
  const input = { ...given, secret: given.secret.trim() };
  const seconds = Math.floor((input.now ?? Date.now)() / 1000);
  const timestamp = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  const rawBody = JSON.stringify({ event: input.event, data: input.data, timestamp });
  const id = input.id ?? '00000000-0000-4000-8000-000000000000';
  const body = utf8(rawBody);
  const own = hex(yield { key: utf8(input.secret), message: join(`${timestamp}.`, body) });
  const key = standardKey(input.secret);
  const standard = base64(yield { key, message: join(`${id}.${seconds}.`, body) });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Service-Webhook/1.0',
    'x-webhook-signature': own,
    'x-webhook-timestamp': timestamp,
    'x-webhook-id': id,
    'x-webhook-event': input.event,
    'x-webhook-attempt': '1',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${standard}`,
  };
  return { rawBody, headers };
}

/**
 * Whether the API's own signature matches; undefined when its headers are absent, or when it fails while
 * the other scheme's headers are present: the other one decides then, by its own timestamp.
 */
function* ownProof(input: VerifyWebhook, body: Uint8Array): Rules<boolean | undefined> {
  const signature = header(input.headers, 'x-webhook-signature');
  const timestamp = header(input.headers, 'x-webhook-timestamp');
  const hasOther = header(input.headers, 'webhook-signature') !== undefined;
  if (signature === undefined || timestamp === undefined) return undefined;
  const digest = yield { key: utf8(input.secret), message: join(`${timestamp}.`, body) };
  const matches = isEqual(hex(digest), signature.toLowerCase());
  if (!matches && hasOther) return undefined;
  const isIso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/.test(timestamp);
  checkTime(input, isIso ? Date.parse(timestamp) : Number.NaN);
  return matches;
}

function* standardProof(input: VerifyWebhook, body: Uint8Array): Rules<boolean | undefined> {
  const id = header(input.headers, 'webhook-id');
  const timestamp = header(input.headers, 'webhook-timestamp');
  const signatures = header(input.headers, 'webhook-signature');
  if (id === undefined || timestamp === undefined || signatures === undefined) return undefined;
  const key = standardKey(input.secret);
  // The secret does not decode: an empty key would accept anybody's signature.
  if (key.length < MIN_KEY_BYTES) return false;
  checkTime(input, /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN);
  const expected = `v1,${base64(yield { key, message: join(`${id}.${timestamp}.`, body) })}`;
  return signatures.split(' ', MAX_SIGNATURES).some((given) => isEqual(expected, given));
}

function checkTime(input: VerifyWebhook, sentMs: number): void {
  if (Number.isNaN(sentMs)) fail('TIMESTAMP_INVALID', 'the timestamp header is not a time');
  const toleranceMs = (input.toleranceSeconds ?? 300) * 1000;
  // Written so that a tolerance that is not a number causes a refusal, not acceptance.
  if (Math.abs((input.now ?? Date.now)() - sentMs) <= toleranceMs) return;
  fail('TIMESTAMP_OUT_OF_TOLERANCE', 'the webhook was sent too long ago, or one of the clocks is wrong');
}

function parseEvent<Data>(body: Uint8Array): WebhookEvent<Data> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
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

/** What follows `whsec_` in bytes; empty where it is no base64. */
function standardKey(secret: string): Uint8Array {
  try {
    const text = atob(secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret);
    return Uint8Array.from(text, (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return utf8(body);
  if (body instanceof Uint8Array) return body;
  return body instanceof ArrayBuffer ? new Uint8Array(body) : undefined;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function join(prefix: string, body: Uint8Array): Uint8Array {
  const head = utf8(prefix);
  const joined = new Uint8Array(head.length + body.length);
  joined.set(head);
  joined.set(body, head.length);
  return joined;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Takes the same time whatever differs: only the length, which is no secret, ends it early. */
function isEqual(expected: string, given: string): boolean {
  if (expected.length !== given.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at += 1)
    difference |= expected.charCodeAt(at) ^ given.charCodeAt(at);
  return difference === 0;
}

function fail(code: WebhookErrorCode, message: string): never {
  throw new WebhookVerificationError(code, message);
}
