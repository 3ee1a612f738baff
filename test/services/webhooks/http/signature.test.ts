import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import {
  buildHeaders,
  generateSecret,
  signBody,
  signStandard,
} from '../../../../src/services/webhooks/http/signature.ts';

const body = Buffer.from(
  '{"event":"deposit.completed","data":{"amount":"12.5","note":"ünïcode ✓"},"timestamp":"2026-11-20T09:30:00Z"}',
);
const secret = generateSecret((size) => Buffer.alloc(size, 7));

describe('signatures', () => {
  const id = '0190a5c8-1111-4222-8333-444455556666';
  const sentAt = new Date('2026-11-20T09:30:00.987Z');

  it('are the hex HMAC over the timestamp header and the raw body, keyed by the whole secret', () => {
    const headers = buildHeaders({
      eventId: id,
      event: 'customer.created',
      attempt: 1,
      sentAt,
      body,
      secrets: [secret],
    });
    expect(headers['X-Webhook-Timestamp']).to.equal('2026-11-20T09:30:00Z');
    const expected = createHmac('sha256', secret)
      .update(Buffer.concat([Buffer.from('2026-11-20T09:30:00Z.'), body]))
      .digest('hex');
    expect(headers['X-Webhook-Signature']).to.equal(expected);
  });

  it('match vectors that were computed with another program', () => {
    const plain = Buffer.from('{"event":"webhook.test","data":{},"timestamp":"2026-11-20T09:30:00Z"}');
    const fixed = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
    expect(signBody(fixed, '2026-11-20T09:30:00Z', plain)).to.equal(
      '27874527ceabce18bcdaea9e3fdb05a371a9d1a9564dcbbb6edf79b85bdabd5f',
    );
    expect(signStandard(fixed, id, 1_795_167_000, plain)).to.equal(
      'v1,Yw+YEmskGRg9xeMPTe03CQpjbWWh49miMueFpuUh9iU=',
    );
  });

  it('are those of Standard Webhooks, for the current and for the previous secret', () => {
    const previous = generateSecret((size) => Buffer.alloc(size, 9));
    const now = new Date();
    const headers = buildHeaders({
      eventId: id,
      event: 'customer.created',
      attempt: 1,
      sentAt: now,
      body,
      secrets: [secret, previous],
    });
    const text = body.toString();
    for (const each of [secret, previous])
      expect(new Webhook(each).verify(text, headers)).to.deep.equal(JSON.parse(text));
    const whole = new Date(Math.floor(now.getTime() / 1000) * 1000);
    expect(headers['webhook-signature']).to.equal(
      `${new Webhook(secret).sign(id, whole, text)} ${new Webhook(previous).sign(id, whole, text)}`,
    );
    expect(() =>
      new Webhook(generateSecret((size) => Buffer.alloc(size, 1))).verify(text, headers),
    ).to.throw();
  });

  it('are never made with a missing or malformed secret', () => {
    for (const secrets of [[], [''], ['whsec_'], ['whsec_!!!'], ['nonsense'], [secret, 'whsec_AAAA']]) {
      expect(
        () => buildHeaders({ eventId: id, event: 'x', attempt: 1, sentAt, body, secrets }),
        String(secrets),
      ).to.throw(/secret/);
    }
    expect(generateSecret((size) => Buffer.alloc(size, 255))).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(() => generateSecret(() => Buffer.alloc(8))).to.throw(/32 bytes/);
  });
});
