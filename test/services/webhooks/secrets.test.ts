import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { ReceivedRequest } from '../../../dev/support/receiver.ts';
import { updateEndpoint } from '../../../dev/support/use-cases.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { type Bench, startDeliveries, type Target } from './support.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('the secrets of an endpoint', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const rotate = async (target: Target): Promise<string> => {
    const { secret } = await updateEndpoint(bench.deps, {
      ...target.scope,
      id: target.endpointId,
      rotateSecret: true,
    });
    if (!secret) throw new Error('no new secret');
    return secret;
  };
  const send = async (target: Target): Promise<ReceivedRequest> => {
    await bench.attempt(target);
    const request = target.receiver.requests.at(-1);
    if (!request) throw new Error('nothing was sent');
    return request;
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

  it('sign both for 24 hours after a rotation, and then the new one alone', async () => {
    const target = await bench.target(200);
    const next = await rotate(target);
    bench.pass(DAY_MS - 1_000);
    const within = await send(target);
    bench.pass(1_000);
    const past = await send(target);
    for (const request of [within, past])
      expect([own(request, target.secret), own(request, next)]).to.deep.equal([false, true]);
    expect([entries(within).length, entries(past).length]).to.deep.equal([2, 1]);
    expect([standard(within, target.secret), standard(within, next)]).to.deep.equal([true, true]);
    expect([standard(past, target.secret), standard(past, next)]).to.deep.equal([false, true]);
  });

  it('sign each until its own 24 hours are over when they are rotated twice', async () => {
    const target = await bench.target(200);
    const second = await rotate(target);
    bench.pass(10 * HOUR_MS);
    const third = await rotate(target);
    const all = [target.secret, second, third];
    const signing = (request: ReceivedRequest) => all.map((secret) => standard(request, secret));
    const both = await send(target);
    expect(signing(both)).to.deep.equal([true, true, true]);
    expect(own(both, third)).to.equal(true);
    bench.pass(14 * HOUR_MS - 1_000);
    expect(signing(await send(target))).to.deep.equal([true, true, true]);
    bench.pass(1_000);
    expect(signing(await send(target))).to.deep.equal([false, true, true]);
    bench.pass(10 * HOUR_MS);
    expect(signing(await send(target))).to.deep.equal([false, false, true]);
  });

  it('that no key opens any more hold nothing up once they are replaced, as its merchant is told to', async () => {
    const target = await bench.target(200);
    const lost = createSecretBox(randomBytes(32)).seal('whsec_lost', target.endpointId);
    await bench.sql('update webhook_endpoints set secret_sealed = ? where id = ?', [lost, target.endpointId]);
    const next = await rotate(target);
    const request = await send(target);
    expect([standard(request, next), entries(request).length]).to.deep.equal([true, 1]);
  });

  it('that were replaced sign as long as there are at most four of them, the newest', async () => {
    const target = await bench.target(200);
    const secrets = [target.secret];
    for (let count = 0; count < 5; count += 1) secrets.push(await rotate(target));
    const request = await send(target);
    expect(secrets.map((secret) => standard(request, secret))).to.deep.equal([
      false,
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(entries(request)).to.have.length(5);
    const [row] = await bench.sql<{ earlier_secrets: unknown[] }>(
      'select earlier_secrets from webhook_endpoints where id = ?',
      [target.endpointId],
    );
    expect(row?.earlier_secrets).to.have.length(4);
    expect(JSON.stringify(row)).not.to.contain('whsec_');
  });
});
