import { createHmac } from 'node:crypto';
import { USER_AGENT, WEBHOOK_HEADERS } from '../../../domain/webhook.ts';

const SECRET_PREFIX = 'whsec_';

/** A new signing secret: `whsec_` and the base64 of 32 bytes taken from `randomBytes`. */
export function generateSecret(randomBytes: (size: number) => Uint8Array): string {
  const bytes = randomBytes(32);
  if (bytes.length !== 32) throw new Error('the source of randomness did not return 32 bytes');
  return `${SECRET_PREFIX}${Buffer.from(bytes).toString('base64')}`;
}

/**
 * Hex HMAC-SHA256 of `${timestamp}.${body}` with the whole
 * secret string as key: the `X-Webhook-Signature` of the API.
 */
export function signBody(secret: string, timestamp: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
}

/**
 * One `v1,<base64>` entry of Standard Webhooks over
 * `${id}.${unixSeconds}.${body}`; the key is what follows `whsec_`, decoded.
 */
export function signStandard(secret: string, id: string, unixSeconds: number, body: Uint8Array): string {
  const hmac = createHmac('sha256', decodeSecret(secret));
  return `v1,${hmac.update(`${id}.${unixSeconds}.`).update(body).digest('base64')}`;
}

export type DeliveryHead = {
  readonly eventId: string;
  readonly event: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** When this attempt is sent; fractions of a second are dropped. */
  readonly sentAt: Date;
  /** The stored bytes of the event, exactly as they will be sent. */
  readonly body: Uint8Array;
  /** The current secret first, then those that a rotation still keeps. At least one. */
  readonly secrets: readonly string[];
};

/**
 * Every header of one attempt except Host and Content-Length, which belong to the
 * transport. The API's own header is signed with the current secret alone; the Standard
 * Webhooks one carries a signature of each secret. Throws on a missing or malformed secret.
 */
export function buildHeaders(input: DeliveryHead): Record<string, string> {
  const [current] = input.secrets;
  if (current === undefined) throw new Error('a delivery needs a signing secret');
  const unixSeconds = Math.floor(input.sentAt.getTime() / 1000);
  const timestamp = new Date(unixSeconds * 1000).toISOString().replace('.000Z', 'Z');
  return {
    'Content-Type': 'application/json',
    Accept: '*/*', // some firewalls drop requests without it
    'User-Agent': USER_AGENT,
    [WEBHOOK_HEADERS.signature]: signBody(current, timestamp, input.body),
    [WEBHOOK_HEADERS.timestamp]: timestamp,
    [WEBHOOK_HEADERS.id]: input.eventId,
    [WEBHOOK_HEADERS.event]: input.event,
    [WEBHOOK_HEADERS.attempt]: String(input.attempt),
    [WEBHOOK_HEADERS.standardId]: input.eventId,
    [WEBHOOK_HEADERS.standardTimestamp]: String(unixSeconds),
    [WEBHOOK_HEADERS.standardSignature]: input.secrets
      .map((secret) => signStandard(secret, input.eventId, unixSeconds, input.body))
      .join(' '),
  };
}

/**
 * An empty key would sign happily and protect nothing, so a
 * secret that does not decode is an error and not a signature.
 */
function decodeSecret(secret: string): Buffer {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const key = Buffer.from(encoded, 'base64');
  if (key.length < 24 || key.toString('base64') !== encoded)
    throw new Error('a webhook secret is not whsec_ followed by base64');
  return key;
}
