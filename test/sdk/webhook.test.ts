import { expect } from 'chai';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  signTestEvent,
  type VerifyWebhook,
  verifyWebhook,
  WebhookVerificationError,
} from '../../packages/sdk/src/index.ts';
import { buildHeaders, generateSecret } from '../../src/services/webhooks/http/signature.ts';

const secret = generateSecret((size) => Buffer.alloc(size, 3));
const sentMs = Date.parse('2026-11-20T09:30:00Z');
const now = () => sentMs;
const rawBody = Buffer.from(
  '{"event":"customer.created","data":{"name":"ünï 12.50"},"timestamp":"2026-11-20T09:29:58Z"}',
);

function headersOf(secrets: string[] = [secret], body: Uint8Array = rawBody): Record<string, string> {
  return buildHeaders({
    eventId: 'e1',
    event: 'customer.created',
    attempt: 1,
    sentAt: new Date(sentMs),
    body,
    secrets,
  });
}

function without(headers: Record<string, string>, pattern: RegExp): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !pattern.test(name)));
}

const ownOnly = (headers: Record<string, string>) => without(headers, /^webhook-/);
const standardOnly = (headers: Record<string, string>) => without(headers, /^X-Webhook-/);

function codeOf(input: VerifyWebhook): string {
  try {
    verifyWebhook(input);
    return 'accepted';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
}

describe('a merchant verifies a webhook', () => {
  it('by either scheme, from bytes or text, with any kind of headers', () => {
    const all = headersOf();
    for (const headers of [all, ownOnly(all), standardOnly(all)]) {
      const lower = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      );
      for (const form of [
        headers,
        lower,
        new Headers(headers),
        Object.fromEntries(Object.entries(lower).map(([name, value]) => [name, [value]])),
      ]) {
        const bytes = new Uint8Array(rawBody);
        for (const body of [rawBody, bytes, bytes.buffer, rawBody.toString()]) {
          expect(verifyWebhook({ rawBody: body, headers: form, secret, now })).to.deep.equal(
            JSON.parse(rawBody.toString()),
          );
        }
      }
    }
  });

  it('and refuses any changed byte, of either scheme', () => {
    for (const headers of [ownOnly(headersOf()), standardOnly(headersOf())]) {
      fc.assert(
        fc.property(fc.nat(rawBody.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
          const changed = Buffer.from(rawBody);
          changed[at] = (changed[at] ?? 0) ^ change;
          return codeOf({ rawBody: changed, headers, secret, now }) === 'SIGNATURE_MISMATCH';
        }),
      );
    }
  });

  it('and is told where its framework has parsed the body already, or the tolerance is no number', () => {
    const headers = headersOf();
    const parsed: unknown = JSON.parse(rawBody.toString());
    expect(codeOf({ rawBody: parsed as string, headers, secret, now })).to.equal('RAW_BODY_REQUIRED');
    expect(codeOf({ rawBody, headers, secret, now, toleranceSeconds: Number.NaN })).to.equal(
      'TIMESTAMP_OUT_OF_TOLERANCE',
    );
  });

  it('and rehearses with events signed like real ones', () => {
    const event = signTestEvent({
      secret,
      event: 'deposit.completed',
      data: { id: 'd1', amount_usd: 12.5 },
      now,
    });
    expect(verifyWebhook({ ...event, secret, now }).data).to.deep.equal({ id: 'd1', amount_usd: 12.5 });
    const fromFile = signTestEvent({ secret: `${secret}\n`, event: 'x', data: {}, now });
    expect(verifyWebhook({ ...fromFile, secret, now }).event).to.equal('x');
    const real = headersOf([secret], Buffer.from(event.rawBody));
    const names = (headers: Record<string, string>) =>
      Object.keys(headers)
        .map((name) => name.toLowerCase())
        .filter((name) => name !== 'accept')
        .sort();
    expect(names(event.headers)).to.deep.equal(names(real));
    expect(event.headers['x-webhook-signature']).to.equal(real['X-Webhook-Signature']);
    const fresh = signTestEvent({ secret, event: 'webhook.test', data: {} });
    expect(new Webhook(secret).verify(fresh.rawBody, fresh.headers)).to.deep.equal(JSON.parse(fresh.rawBody));
  });
});
