import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { ReceivedRequest } from '../../../dev/support/receiver.ts';
import { updateEndpoint } from '../../../dev/support/use-cases.ts';
import {
  buildHeaders,
  generateSecret,
  signBody,
  signStandard,
} from '../../../src/services/webhooks/http/signature.ts';
import { type Bench, startDeliveries, type Target } from './support.ts';

const HOUR_MS = 3_600_000;
const ID = '0190a5c8-1111-4222-8333-444455556666';
const body = Buffer.from('{"event":"deposit.completed","data":{"note":"ünïcode ✓"}}');
const secretOf = (byte: number) => generateSecret((size) => Buffer.alloc(size, byte));

describe('signatures', () => {
  const head = { eventId: ID, event: 'customer.created', attempt: 1, body };

  it('match vectors that were computed with another program', () => {
    const plain = Buffer.from('{"event":"webhook.test","data":{},"timestamp":"2026-11-20T09:30:00Z"}');
    const fixed = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
    expect(signBody(fixed, '2026-11-20T09:30:00Z', plain)).to.equal(
      '27874527ceabce18bcdaea9e3fdb05a371a9d1a9564dcbbb6edf79b85bdabd5f',
    );
    expect(signStandard(fixed, ID, 1_795_167_000, plain)).to.equal(
      'v1,Yw+YEmskGRg9xeMPTe03CQpjbWWh49miMueFpuUh9iU=',
    );
  });

  it('are those of Standard Webhooks, for the current and for the previous secret', () => {
    const [secret, previous] = [secretOf(7), secretOf(9)];
    const now = new Date();
    const headers = buildHeaders({ ...head, sentAt: now, secrets: [secret, previous] });
    const text = body.toString();
    for (const each of [secret, previous])
      expect(new Webhook(each).verify(text, headers)).to.deep.equal(JSON.parse(text));
    const whole = new Date(Math.floor(now.getTime() / 1000) * 1000);
    expect(headers['X-Webhook-Timestamp']).to.equal(whole.toISOString().replace('.000Z', 'Z'));
    expect(headers['webhook-signature']).to.equal(
      `${new Webhook(secret).sign(ID, whole, text)} ${new Webhook(previous).sign(ID, whole, text)}`,
    );
    expect(() => new Webhook(secretOf(1)).verify(text, headers)).to.throw();
  });

  it('are never made with a missing or malformed secret', () => {
    const sentAt = new Date('2026-11-20T09:30:00.987Z');
    for (const secrets of [[], [''], ['whsec_'], ['whsec_!!!'], ['nonsense'], [secretOf(7), 'whsec_AAAA']])
      expect(() => buildHeaders({ ...head, sentAt, secrets }), String(secrets)).to.throw(/secret/);
    expect(secretOf(255)).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(() => generateSecret(() => Buffer.alloc(8))).to.throw(/32 bytes/);
  });
});

describe('the secrets of an endpoint', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const rotate = async (target: Target): Promise<string> => {
    const change = { ...target.scope, id: target.endpointId, rotateSecret: true };
    const { secret } = await updateEndpoint(bench.deps, change);
    if (!secret) throw new Error('no new secret');
    return secret;
  };
  const send = async (target: Target): Promise<ReceivedRequest> => {
    await bench.attempt(target);
    return target.receiver.requests.at(-1) ?? expect.fail('nothing was sent');
  };
  const own = ({ headers, body }: ReceivedRequest, secret: string): boolean =>
    headers['x-webhook-signature'] ===
    createHmac('sha256', secret).update(`${headers['x-webhook-timestamp']}.`).update(body).digest('hex');
  const entries = ({ headers }: ReceivedRequest): string[] => String(headers['webhook-signature']).split(' ');
  /** The official library has no clock to set: its own comparison, under the time that the header names. */
  const standard = (request: ReceivedRequest, secret: string): boolean => {
    const { headers, body } = request;
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
    return entries(request).includes(
      new Webhook(secret).sign(String(headers['webhook-id']), sentAt, body.toString()),
    );
  };

  it('sign each until its own 24 hours after a rotation are over, the own header by the newest alone', async () => {
    const target = await bench.target(200);
    const second = await rotate(target);
    bench.pass(10 * HOUR_MS);
    const all = [target.secret, second, await rotate(target)];
    for (const [pause, signing] of [
      [0, [true, true, true]],
      [14 * HOUR_MS - 1_000, [true, true, true]],
      [1_000, [false, true, true]],
      [10 * HOUR_MS, [false, false, true]],
    ] as const) {
      bench.pass(pause);
      const request = await send(target);
      expect(all.map((secret) => standard(request, secret))).to.deep.equal(signing);
      expect(entries(request)).to.have.length(signing.filter(Boolean).length);
      expect(all.map((secret) => own(request, secret))).to.deep.equal([false, false, true]);
    }
  });
});
