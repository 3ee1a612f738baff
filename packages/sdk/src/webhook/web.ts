import {
  type Digest,
  type Rules,
  type SignedEvent,
  signing,
  type TestEvent,
  type VerifyWebhook,
  verifying,
  type WebhookEvent,
} from './rules.ts';

export * from './public.ts';

/** Verifies one webhook with Web Crypto. Rejects with a WebhookVerificationError. */
export async function verifyWebhookAsync<Data = Record<string, unknown>>(
  input: VerifyWebhook,
): Promise<WebhookEvent<Data>> {
  return await follow(verifying<Data>(input));
}

/** A signed event as the gateway would send it, for the tests of a receiver. */
export async function signTestEventAsync(input: TestEvent): Promise<SignedEvent> {
  return await follow(signing(input));
}

/** Web Crypto cannot answer at once. Always throws a TypeError that names the other function. */
export function verifyWebhook(_: VerifyWebhook): never {
  throw new TypeError('verifyWebhook needs the crypto of Node: here "await verifyWebhookAsync(…)" does it');
}

/** Web Crypto cannot answer at once. Always throws a TypeError that names the other function. */
export function signTestEvent(_: TestEvent): never {
  throw new TypeError('signTestEvent needs the crypto of Node: here "await signTestEventAsync(…)" does it');
}

async function follow<Result>(rules: Rules<Result>): Promise<Result> {
  let step = rules.next();
  while (!step.done) step = rules.next(await digestOf(step.value));
  return step.value;
}

async function digestOf({ key, message }: Digest): Promise<Uint8Array> {
  const { subtle } = crypto;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await subtle.importKey('raw', key as Uint8Array<ArrayBuffer>, algorithm, false, ['sign']);
  return new Uint8Array(await subtle.sign('HMAC', imported, message as Uint8Array<ArrayBuffer>));
}
