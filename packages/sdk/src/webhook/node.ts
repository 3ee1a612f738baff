import { createHmac } from 'node:crypto';
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

/**
 * Verifies one webhook and returns its event. Either signature is enough:
 * `X-Webhook-Signature`, or the Standard Webhooks headers, which during a
 * rotation also carry the old secret's signature. Compares in constant time.
 * Needs Node's crypto (Node, Deno, Bun); {@link verifyWebhookAsync} runs everywhere.
 *
 * A genuine webhook can arrive more than once: use `data.id` as the key when you credit.
 * @throws WebhookVerificationError
 */
export function verifyWebhook<Data = Record<string, unknown>>(input: VerifyWebhook): WebhookEvent<Data> {
  return follow(verifying<Data>(input));
}

/**
 * {@link verifyWebhook} in every runtime: with Node's crypto where it is, else with Web Crypto.
 * Rejects with a WebhookVerificationError.
 */
export async function verifyWebhookAsync<Data = Record<string, unknown>>(
  input: VerifyWebhook,
): Promise<WebhookEvent<Data>> {
  return verifyWebhook<Data>(input);
}

/**
 * A signed event as the gateway would send it, for the tests of a receiver.
 * Needs Node's crypto; {@link signTestEventAsync} runs everywhere.
 */
export function signTestEvent(input: TestEvent): SignedEvent {
  return follow(signing(input));
}

/** {@link signTestEvent} in every runtime. */
export async function signTestEventAsync(input: TestEvent): Promise<SignedEvent> {
  return signTestEvent(input);
}

function follow<Result>(rules: Rules<Result>): Result {
  let step = rules.next();
  while (!step.done) step = rules.next(digestOf(step.value));
  return step.value;
}

function digestOf({ key, message }: Digest): Uint8Array {
  return createHmac('sha256', key).update(message).digest();
}
