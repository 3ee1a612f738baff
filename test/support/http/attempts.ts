import { expect } from 'chai';
import type { Outcome } from '../../../src/domain/webhook.ts';
import type { Lookup } from '../../../src/services/webhooks/http/lookup.ts';
import type { TargetPolicy } from '../../../src/services/webhooks/http/target.ts';
import { createWebhookTransport, type Post } from '../../../src/services/webhooks/http/transport.ts';

/** A policy that lets attempts reach the receivers of this machine. */
export const LOCAL_POLICY: TargetPolicy = { allowedCidrs: ['127.0.0.0/8', '::1/128'], allowHttp: true };

export type PostOptions = Partial<Post> & { readonly lookup?: Lookup; readonly policy?: TargetPolicy };

/** Sends one attempt with 20 s to spare; every name resolves to 127.0.0.1 unless a lookup is given. */
export function post(url: string, options: PostOptions = {}): Promise<Outcome> {
  const { lookup = async () => ['127.0.0.1'], policy = LOCAL_POLICY, ...input } = options;
  const transport = createWebhookTransport({ lookup, policy, now: () => performance.now() });
  return transport.post({ url, headers: {}, body: Buffer.from('{}'), timeoutMs: 20_000, ...input });
}

/** `CODE: message` of an attempt without an answer. Fails for an answered one. */
export function errorOf(outcome: Outcome): string {
  expect(outcome.kind).to.equal('error');
  return outcome.kind === 'error' ? `${outcome.code}: ${outcome.message}` : '';
}
