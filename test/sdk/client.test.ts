import { expect } from 'chai';
import { closedPort } from '../../dev/support/receiver.ts';
import { type ClientOptions, createClient } from '../../packages/sdk/src/client.ts';
import { ROUTES } from '../../src/api/routes/index.ts';
import { startTestApi, type TestApi } from '../support/gateway.ts';
import { type AnswerProxy, startAnswerProxy } from '../support/http/answer-proxy.ts';
import { checkedFetch, failure } from './support.ts';

const HOOK = 'http://127.0.0.1:9/';

describe('the client for merchants', function () {
  this.timeout(30_000);
  let api: TestApi;
  let proxy: AnswerProxy;
  before(async () => {
    api = await startTestApi();
    proxy = await startAnswerProxy(api.url);
  });
  beforeEach(() => proxy.play());
  after(async () => {
    await proxy?.stop();
    await api?.stop();
  });

  const clientOf = (more: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl: proxy.url, apiKey: api.keys.test, ...more });
  const since = async <T>(work: () => Promise<T>) => {
    const before = proxy.seen.length;
    const result = await work();
    return { result, sent: proxy.seen.slice(before) };
  };
  const customersNamed = async (externalId: string) =>
    (await clientOf().customers.list({ external_id: externalId })).data;

  it('has a method for every route of a key, and every answer is what the description says', async () => {
    const called = new Set<string>();
    const client = clientOf({ baseUrl: api.url, fetch: checkedFetch(api.url, called) });
    const customer = await client.customers.create({
      external_id: 'user-1',
      email: 'ann@example.com',
      metadata: { plan: 'gold' },
    });
    expect((await client.customers.exists({ external_id: 'user-1' })).customer?.id).to.equal(customer.id);
    expect((await client.customers.list({ limit: 1, created_from: new Date(0) })).data).to.deep.equal([
      customer,
    ]);
    expect(await client.customers.get(customer.id)).to.deep.equal(customer);
    const page = await client.customers.addressPage(customer.id);
    expect((await client.customers.replaceAddressPage(customer.id)).url).to.not.equal(page.url);
    const { secret, ...endpoint } = await client.endpoints.create({ url: HOOK, events: '*' });
    expect(await client.endpoints.get(endpoint.id)).to.deep.equal(endpoint);
    expect((await client.endpoints.list()).data).to.deep.equal([endpoint]);
    expect(
      (await client.endpoints.update(endpoint.id, { events: ['deposit.completed'] })).events,
    ).to.deep.equal(['deposit.completed']);
    expect((await client.endpoints.rotate(endpoint.id)).secret)
      .to.match(/^whsec_/)
      .and.not.equal(secret);
    const event = await client.endpoints.test(endpoint.id);
    expect((await client.events.get(event.id)).event).to.equal('webhook.test');
    expect((await client.events.list({ type: 'webhook.test' })).data.map(({ id }) => id)).to.deep.equal([
      event.id,
    ]);
    const [delivery] = (await client.endpoints.deliveries(endpoint.id, { event: 'webhook.test' })).data;
    expect((await failure(client.deliveries.resend(delivery?.id ?? ''))).code).to.equal('VALIDATION_ERROR');
    expect(await client.endpoints.resendFailed(endpoint.id, new Date(0))).to.deep.equal({
      resent: 0,
      has_more: false,
    });
    const link = await client.payments.request({
      customer_id: customer.id,
      amount_usd: '12.50',
      webhook_url: HOOK,
    });
    expect(link.webhook_secret).to.match(/^whsec_/);
    expect((await client.payments.public(link.token)).methods).to.have.length(2);
    const deposit = await client.test.simulateDeposit({
      customer_id: customer.id,
      amount: '12.5',
      payment_token: link.token,
    });
    expect(deposit.amount).to.equal('12.5');
    expect(await client.deposits.get(deposit.id)).to.deep.equal(deposit);
    expect((await client.deposits.list({ transaction_hash: deposit.transaction_hash })).data).to.deep.equal([
      deposit,
    ]);
    expect((await client.paymentLinks.get(link.id)).status).to.equal('completed');
    expect((await client.paymentLinks.list({ status: 'completed' })).data.map(({ id }) => id)).to.deep.equal([
      link.id,
    ]);
    const open = await client.payments.request({ customer_id: customer.id, amount_usd: 99 });
    expect((await client.paymentLinks.cancel(open.id)).status).to.equal('cancelled');
    const late = await client.payments.request({ customer_id: customer.id, amount_usd: 98 });
    expect((await client.test.expirePayment(late.token)).id).to.equal(late.id);
    expect((await client.balance.get()).available_usd).to.equal(12.5);
    expect((await client.merchantBalances.list()).data.map(({ currency }) => currency)).to.include('USDT');
    expect(await client.endpoints.delete(endpoint.id)).to.deep.equal({ id: endpoint.id, deleted: true });
    const ofKeys = ROUTES.filter(({ only }) => only !== 'session').map(
      ({ method, path }) => `${method} ${path}`,
    );
    expect([...called]).to.have.members(ofKeys);
  });

  it('walks a whole list by cursor, each row once, while rows arrive', async () => {
    const client = clientOf({ apiKey: (await api.newMerchant()).keys.test });
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1)
      made.unshift((await client.customers.create({ external_id: `walk-${count}` })).id);
    const seen: string[] = [];
    const { sent } = await since(async () => {
      for await (const { id } of client.customers.all({ limit: 3 })) {
        if (seen.push(id) === 2) await client.customers.create({ external_id: 'walk-late' });
      }
    });
    expect(seen).to.deep.equal(made);
    expect(sent.filter(({ method }) => method === 'GET')).to.have.length(3);
  });

  it('makes one customer when answers are lost, cut off, refused or too late, and gives its own answer', async () => {
    for (const [trick, timeoutMs] of [
      ['lose', 20_000],
      ['lose-half', 20_000],
      ['refuse', 20_000],
      ['hold', 300],
    ] as const) {
      const name = `lost-${trick}`;
      proxy.play(trick, trick);
      const client = clientOf({ timeoutMs, maxRetries: 10 });
      const { result, sent } = await since(() => client.customers.create({ external_id: name }));
      expect(sent.length, trick).to.be.at.least(3);
      expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).to.equal(1);
      expect(await customersNamed(name)).to.deep.equal([result]);
    }
  });

  it('gives up after its retries with an error whose key still makes one customer', async () => {
    proxy.play('lose', 'lose');
    const error = await failure(clientOf({ maxRetries: 1 }).customers.create({ external_id: 'given-up' }));
    expect([error.status, error.code, error.attempts]).to.deep.equal([0, 'NO_ANSWER', 2]);
    expect(error.message).not.to.include(api.keys.test);
    const again = { idempotencyKey: error.idempotencyKey };
    const made = await clientOf().customers.create({ external_id: 'given-up' }, again);
    expect(await customersNamed('given-up')).to.deep.equal([made]);
    const baseUrl = `http://127.0.0.1:${await closedPort()}/api/v1`;
    const nobody = await failure(clientOf({ baseUrl, maxRetries: 1 }).customers.list());
    expect([nobody.code, nobody.attempts]).to.deep.equal(['NO_ANSWER', 2]);
  });

  it('waits as long as 429, 503 and a request that is still being worked on say, but not above half a minute', async () => {
    const answer = (status: number, code: string, seconds: number) => ({
      status,
      headers: { 'retry-after': `${seconds}` },
      body: JSON.stringify({ error: 'Busy.', code }),
    });
    const { setTimeout } = globalThis;
    const waits: number[] = [];
    Object.assign(globalThis, {
      setTimeout: (work: () => void, ms = 0, ...more: []) => {
        const isWait = ms >= 17_000 && ms < 20_000;
        if (isWait) waits.push(ms);
        return setTimeout(work, isWait ? 1 : ms, ...more);
      },
    });
    try {
      for (const [status, code] of [
        [429, 'RATE_LIMITED'],
        [503, 'UNAVAILABLE'],
        [409, 'IDEMPOTENCY_CONFLICT'],
      ] as const) {
        waits.length = 0;
        proxy.play(answer(status, code, 17));
        const client = clientOf({ timeoutMs: 45_000 });
        const { sent } = await since(() => client.customers.create({ external_id: `waits-${status}` }));
        expect([sent.length, waits.length], `${status}`).to.deep.equal([2, 1]);
      }
    } finally {
      Object.assign(globalThis, { setTimeout });
    }
    proxy.play(answer(429, 'RATE_LIMITED', 31));
    const { result, sent } = await since(() => failure(clientOf().customers.list()));
    expect([result.status, result.retryAfter, sent.length]).to.deep.equal([429, 31, 1]);
    proxy.play({ status: 502, body: '<h1>Bad gateway</h1>' });
    expect((await clientOf().customers.exists({ email: 'none' })).exists).to.equal(false);
  });

  it('sends nothing again that the API refused, and says why it did', async () => {
    const client = clientOf();
    await client.customers.create({ external_id: 'once' });
    const wrongKey = clientOf({ apiKey: 'sk_test_wrong' });
    const live = clientOf({ apiKey: api.keys.live });
    const taken = { status: 409, code: 'CUSTOMER_EXISTS', field: 'external_id' };
    const refusals: readonly [work: () => Promise<unknown>, is: object][] = [
      [() => client.customers.create({ external_id: 'once' }), taken],
      [() => client.customers.exists({}), { status: 400, code: 'VALIDATION_ERROR' }],
      [() => client.customers.get('none'), { status: 404, code: 'NOT_FOUND' }],
      [
        () => client.payments.request({ email: 'a@b.example', amount_usd: 1 }),
        { code: 'AMOUNT_TOO_SMALL', minimum: 5 },
      ],
      [() => wrongKey.customers.list(), { status: 401, code: 'UNAUTHORIZED' }],
      [() => live.test.simulateDeposit({ customer_id: 'x' }), { status: 403, code: 'TEST_MODE_ONLY' }],
    ];
    for (const [work, is] of refusals) {
      const { result, sent } = await since(() => failure(work()));
      expect(result).to.include(is);
      expect(result.requestId).to.match(/^[0-9a-f-]{36}$/);
      expect(sent).to.have.length(1);
    }
    const wrong = await failure(client.customers.create({ external_id: 'x'.repeat(256), name: '' }));
    expect(wrong.details.map(({ path }) => path)).to.have.members(['external_id', 'name']);
    await client.customers.create({ external_id: 'key-1' }, { idempotencyKey: 'same' });
    const { result, sent } = await since(() =>
      failure(client.customers.create({ external_id: 'key-2' }, { idempotencyKey: 'same' })),
    );
    expect([result.code, result.retryAfter, sent.length]).to.deep.equal([
      'IDEMPOTENCY_CONFLICT',
      undefined,
      1,
    ]);
  });

  it('takes a deleted endpoint for deleted when the first answer was lost, and only then', async () => {
    const { id } = await clientOf().endpoints.create({ url: HOOK, events: ['*'] });
    proxy.play('lose');
    expect(await clientOf().endpoints.delete(id)).to.deep.equal({ id, deleted: true });
    expect((await failure(clientOf().endpoints.delete(id))).code).to.equal('NOT_FOUND');
  });

  it('follows no redirect with the key, and takes no stranger’s page for an answer', async () => {
    const answers = [
      { status: 302, headers: { location: `${api.url}/customers` } },
      { status: 200, body: '<h1>Sign in to the Wi-Fi</h1>' },
    ];
    for (const answer of [...answers, { status: 200, body: '[]' }, { status: 404, body: '' }]) {
      proxy.play(answer);
      const { result, sent } = await since(() => failure(clientOf().customers.list()));
      expect([result.code, result.status, sent.length]).to.deep.equal(['INVALID_ANSWER', answer.status, 1]);
    }
  });

  it('refuses what cannot work before anything is sent, without repeating the key', async () => {
    for (const baseUrl of ['', 'example.com', 'ftp://a.example/', 'https://a.example/?x=1'])
      expect(() => clientOf({ baseUrl })).to.throw(TypeError, 'baseUrl');
    for (const apiKey of ['', 'pk_test_x', `${api.keys.test}\n`, 'sk_test_ x'])
      expect(() => clientOf({ apiKey }))
        .to.throw(TypeError, 'apiKey')
        .and.not.match(/pk_test_x/);
    for (const wrong of [{ maxRetries: 11 }, { maxRetries: 1.5 }, { timeoutMs: 0 }, { timeoutMs: Infinity }])
      expect(() => clientOf(wrong)).to.throw(TypeError, Object.keys(wrong)[0]);
    const before = proxy.seen.length;
    for (const id of ['', '.', '..']) expect(() => clientOf().customers.get(id)).to.throw(TypeError);
    expect(proxy.seen.length).to.equal(before);
    const path = await failure(clientOf().customers.get('../webhook-endpoints?limit=1'));
    expect(path.code).to.equal('NOT_FOUND');
    Object.assign(globalThis, { document: {} });
    try {
      expect(() => clientOf({ apiKey: api.keys.live })).to.throw(TypeError, 'never reach a browser');
    } finally {
      Reflect.deleteProperty(globalThis, 'document');
    }
    expect(() => clientOf({ apiKey: api.keys.live })).not.to.throw();
  });
});
