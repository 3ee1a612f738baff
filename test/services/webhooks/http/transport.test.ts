import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import {
  type Behaviour,
  closedPort,
  type Receiver,
  type ReceiverOptions,
  startCanary,
  startReceiver,
} from '../../../../dev/support/receiver.ts';
import { classify } from '../../../../src/domain/webhook.ts';
import { buildHeaders, generateSecret } from '../../../../src/services/webhooks/http/signature.ts';
import { errorOf, post } from '../../../support/http/attempts.ts';

const body = Buffer.from(
  '{"event":"deposit.completed","data":{"amount":"12.5","note":"ünïcode ✓"},"timestamp":"2026-11-20T09:30:00Z"}',
);
const secret = generateSecret((size) => Buffer.alloc(size, 7));

describe('sending an attempt', () => {
  const receivers: Receiver[] = [];
  const start = async (options: ReceiverOptions = {}) => {
    const receiver = await startReceiver(options);
    receivers.push(receiver);
    return receiver;
  };
  const startWith = (behaviour: Behaviour) => start({ behaviour });

  afterEach('leaves no socket behind', async () => {
    // The transport destroys its sockets; the receivers see it a moment later.
    await eventually('the end of every socket', () => receivers.every((one) => one.openSockets() === 0));
    for (const receiver of receivers.splice(0)) await receiver.stop();
  });

  it('delivers the exact bytes with headers that verify', async () => {
    const receiver = await start({ secret, path: '/hook?shop=1' });
    const head = {
      eventId: '0190a5c8-1111-4222-8333-444455556666',
      event: 'deposit.completed',
      attempt: 2,
      sentAt: new Date(),
      body,
      secrets: [secret],
    };
    const outcome = await post(receiver.url, { body, headers: buildHeaders(head) });
    expect(outcome).to.include({ kind: 'response', status: 200, bodyText: '' });
    const [request] = receiver.requests;
    expect(request).to.include({ method: 'POST', path: '/hook?shop=1', verified: true });
    expect(request?.body.equals(body)).to.equal(true);
    expect(request?.headers).to.include({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'close',
      'content-type': 'application/json',
      'content-length': String(body.length),
      'user-agent': 'Service-Webhook/1.0',
      'x-webhook-id': head.eventId,
      'x-webhook-event': 'deposit.completed',
      'x-webhook-attempt': '2',
    });
    expect(request?.headers).not.to.have.any.keys('transfer-encoding', 'cookie', 'authorization');
  });

  it('stores at most 4 KiB of text that PostgreSQL takes', async () => {
    for (const body of ['é'.repeat(5_000), '\u0000'.repeat(5_000), Buffer.alloc(5_000, 0xff)]) {
      const outcome = await post((await startWith({ kind: 'answer', status: 500, body })).url);
      const stored = outcome.kind === 'response' ? outcome.bodyText : '';
      expect(Buffer.byteLength(stored)).to.be.within(4_090, 4_096);
      expect(stored).not.to.include('\u0000');
    }
  });

  for (const [name, behaviour] of [
    ['silence', { kind: 'hang' }],
    ['headers that drip', { kind: 'drip-headers', everyMs: 20 }],
  ] as const)
    it(`counts ${name} as no answer when its time is over`, async () => {
      const receiver = await startWith(behaviour);
      const outcome = await post(receiver.url, { timeoutMs: 200 });
      expect(errorOf(outcome)).to.equal('TIMEOUT: no answer within 0.2 s');
    });

  it('takes a 2xx with an endless body as success, and reads no more than is kept', async () => {
    const receiver = await startWith({ kind: 'endless-body', status: 200 });
    const outcome = await post(receiver.url, { timeoutMs: 600_000 });
    expect(classify(outcome)).to.equal('succeeded');
    expect(outcome.kind === 'response' && outcome.bodyText).to.equal('x'.repeat(4_096));
  });

  it('follows no redirect', async () => {
    const canary = await startCanary();
    for (const status of [301, 307]) {
      const receiver = await startWith({ kind: 'redirect', status, to: `http://127.0.0.1:${canary.port}/` });
      const outcome = await post(receiver.url);
      expect(outcome).to.include({ kind: 'response', status });
      expect(classify(outcome)).to.equal('final');
    }
    expect(canary.connections()).to.equal(0);
    await canary.stop();
  });

  it('uses no proxy of the environment', async () => {
    const canary = await startCanary();
    const before = { ...process.env };
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])
      process.env[name] = `http://127.0.0.1:${canary.port}`;
    process.env['NODE_USE_ENV_PROXY'] = '1';
    try {
      const receiver = await start();
      expect(await post(receiver.url)).to.include({ kind: 'response', status: 200 });
      expect([receiver.requests.length, canary.connections()]).to.deep.equal([1, 0]);
    } finally {
      process.env = before;
      await canary.stop();
    }
  });

  for (const [behaviour, message] of [
    [{ kind: 'reset' }, 'RESET: connection closed before an answer'],
    [{ kind: 'huge-headers', bytes: 20_000 }, 'PROTOCOL: the answer has more than 16 KiB of headers'],
    [{ kind: 'informational', count: 1_000 }, 'PROTOCOL: too many 1xx answers'],
  ] as const)
    it(`says "${message}" of ${JSON.stringify(behaviour)}`, async () => {
      expect(errorOf(await post((await startWith(behaviour)).url))).to.equal(message);
    });

  it('names what went wrong before there was a connection', async () => {
    const failing = (code: string, message: string) => ({
      lookup: () => Promise.reject(Object.assign(new Error(message), { code })),
    });
    expect(errorOf(await post(`http://127.0.0.1:${await closedPort()}/`))).to.equal(
      'CONNECT: no connection to the receiver',
    );
    const url = 'https://shop.example/';
    expect(errorOf(await post(url, failing('ENOTFOUND', 'queryA ENOTFOUND ns.internal')))).to.equal(
      'DNS: host name does not resolve',
    );
    expect(errorOf(await post(url, failing('ESERVFAIL', 'queryA 10.0.0.2')))).to.equal(
      'DNS: host name lookup failed (ESERVFAIL)',
    );
  });
});
