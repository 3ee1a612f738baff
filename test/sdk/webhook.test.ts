import { createHmac } from 'node:crypto';
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
const previous = generateSecret((size) => Buffer.alloc(size, 4));
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
        for (const body of [rawBody, new Uint8Array(rawBody), rawBody.toString()]) {
          expect(verifyWebhook({ rawBody: body, headers: form, secret, now })).to.deep.equal(
            JSON.parse(rawBody.toString()),
          );
        }
      }
    }
  });

  it('with the old secret during a rotation', () => {
    const headers = headersOf([secret, previous]);
    for (const each of [secret, previous])
      expect(codeOf({ rawBody, headers, secret: each, now })).to.equal('accepted');
    expect(codeOf({ rawBody, headers: ownOnly(headers), secret: previous, now })).to.equal(
      'SIGNATURE_MISMATCH',
    );
    expect(codeOf({ rawBody, headers: headersOf([secret]), secret: previous, now })).to.equal(
      'SIGNATURE_MISMATCH',
    );
  });

  it('and refuses any changed byte, timestamp or secret', () => {
    for (const headers of [ownOnly(headersOf()), standardOnly(headersOf())]) {
      fc.assert(
        fc.property(fc.nat(rawBody.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
          const changed = Buffer.from(rawBody);
          changed[at] = (changed[at] ?? 0) ^ change;
          return codeOf({ rawBody: changed, headers, secret, now }) === 'SIGNATURE_MISMATCH';
        }),
      );
      const later = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          value.replace('09:30:00', '09:30:01').replace(/^1795167000$/, '1795167001'),
        ]),
      );
      expect(codeOf({ rawBody, headers: later, secret, now })).to.equal('SIGNATURE_MISMATCH');
      expect(codeOf({ rawBody, headers, secret: previous, now })).to.equal('SIGNATURE_MISMATCH');
    }
  });

  it('within the tolerance and not a second outside, to both sides', () => {
    for (const headers of [headersOf(), ownOnly(headersOf()), standardOnly(headersOf())]) {
      const at = (offsetMs: number, toleranceSeconds?: number) =>
        codeOf({
          rawBody,
          headers,
          secret,
          now: () => sentMs + offsetMs,
          ...(toleranceSeconds !== undefined && { toleranceSeconds }),
        });
      expect([at(300_000), at(-300_000)]).to.deep.equal(['accepted', 'accepted']);
      expect([at(300_001), at(-300_001)]).to.deep.equal([
        'TIMESTAMP_OUT_OF_TOLERANCE',
        'TIMESTAMP_OUT_OF_TOLERANCE',
      ]);
      expect([at(10_000, 10), at(10_001, 10), at(0, Number.NaN)]).to.deep.equal([
        'accepted',
        'TIMESTAMP_OUT_OF_TOLERANCE',
        'TIMESTAMP_OUT_OF_TOLERANCE',
      ]);
    }
  });

  it('and is told what is wrong', () => {
    const headers = headersOf();
    expect(codeOf({ rawBody, headers: {}, secret, now })).to.equal('HEADER_MISSING');
    expect(codeOf({ rawBody, headers: without(ownOnly(headers), /Timestamp/), secret, now })).to.equal(
      'HEADER_MISSING',
    );
    expect(
      codeOf({ rawBody, headers: { ...ownOnly(headers), 'X-Webhook-Signature': '' }, secret, now }),
    ).to.equal('SIGNATURE_MISMATCH');
    const parsed: unknown = JSON.parse(rawBody.toString());
    expect(codeOf({ rawBody: parsed as string, headers, secret, now })).to.equal('RAW_BODY_REQUIRED');
    for (const timestamp of ['', 'yesterday', '1795167000', '2026-11-20', '2026-13-45T09:30:00Z']) {
      const signed = { 'X-Webhook-Timestamp': timestamp, 'X-Webhook-Signature': signTimestamp(timestamp) };
      expect(codeOf({ rawBody, headers: signed, secret, now }), timestamp).to.equal('TIMESTAMP_INVALID');
    }
    for (const text of ['', 'no json', '[]', '"text"', 'null', '{"event":"x"}']) {
      const body = Buffer.from(text);
      expect(codeOf({ rawBody: body, headers: headersOf([secret], body), secret, now }), text).to.equal(
        'BODY_INVALID',
      );
    }
  });

  it('never with a secret that everybody knows', () => {
    const empty = new Webhook('whsec_AAAA');
    for (const bad of ['', '   ', 'whsec_', 'whsec_AAAA']) {
      const headers = {
        'webhook-id': 'e',
        'webhook-timestamp': '1795167000',
        'webhook-signature': empty.sign('e', new Date(sentMs), rawBody.toString()),
      };
      expect(codeOf({ rawBody, headers, secret: bad, now }), bad).to.equal('SECRET_REQUIRED');
      expect(codeOf({ rawBody, headers, secret: '!!!!!!!!!!!!!!!!!!!!', now })).to.equal(
        'SIGNATURE_MISMATCH',
      );
    }
  });

  it('and rehearses with events signed like real ones', () => {
    const event = signTestEvent({
      secret,
      event: 'deposit.completed',
      data: { id: 'd1', amount_usd: 12.5 },
      now,
    });
    expect(verifyWebhook({ ...event, secret, now }).data).to.deep.equal({ id: 'd1', amount_usd: 12.5 });
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

function signTimestamp(timestamp: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest('hex');
}
