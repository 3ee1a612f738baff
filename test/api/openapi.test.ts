import Ajv2020 from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { type Answer, call, startTestApi, type TestApi } from '../support/gateway.ts';
import { cookieOf, newUser, postLogin } from '../support/sign-in.ts';

type Operation = {
  operationId: string;
  security?: object[];
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
  requestBody?: { content: Record<string, { schema: object }> };
};
type Document = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
};

const JSON_TYPE = 'application/json';

describe('the description at GET /openapi.json', () => {
  let api: TestApi;
  let document: Document;
  let ajv: InstanceType<typeof Ajv2020.default>;
  before(async () => {
    api = await startTestApi();
    document = (await call(`${api.origin}/openapi.json`)).body as Document;
    ajv = new Ajv2020.default({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'api', ...document });
  });
  after(() => api.stop());

  const pointer = (...parts: string[]) =>
    `api#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
  const expectFits = (answer: Answer, path: string, method: string) => {
    const status = String(answer.status);
    expect(document.paths[path]?.[method]?.responses, `${method} ${path} ${answer.text}`).to.have.property(
      status,
    );
    const validate = ajv.getSchema(
      pointer('paths', path, method, 'responses', status, 'content', JSON_TYPE, 'schema'),
    );
    expect(
      validate?.(answer.body),
      `${method} ${path} ${status}: ${JSON.stringify(validate?.errors)}\n${answer.text}`,
    ).to.equal(true);
  };

  it('needs no key and is OpenAPI 3.1 with both key headers', () => {
    expect(document.openapi).to.equal('3.1.0');
    expect(document.components.securitySchemes['bearer']).to.include({ type: 'http', scheme: 'bearer' });
    expect(document.components.securitySchemes['session']).to.include({
      type: 'apiKey',
      in: 'cookie',
      name: 'ch_session',
    });
    expect(document.components.securitySchemes['apiKey']).to.include({
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
    });
  });

  it('has no reference that leads nowhere', () => {
    const references = [
      ...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g),
    ].map((match) => match[1] ?? '');
    expect(references.length).to.be.greaterThan(10);
    for (const name of references) expect(document.components.schemas).to.have.property(name);
  });

  it('tells the truth about the answers of every route, good and bad', async () => {
    const key = api.keys.test;
    const at = `${api.url}`;
    const fits = async (
      method: string,
      path: string,
      url: string,
      body?: unknown,
      by: string | undefined = key,
    ) => {
      const answer = await call(at + url, {
        method: method.toUpperCase(),
        ...(by === '' ? {} : { key: by }),
        ...(body === undefined ? {} : { body }),
      });
      expectFits(answer, path, method);
      return answer.body;
    };
    const customer = await fits('post', '/customers', '/customers', {
      external_id: 'a',
      metadata: { deep: [{ a: 1 }] },
    });
    await fits('post', '/customers', '/customers', { external_id: 'a' });
    await fits('post', '/customers', '/customers', { external_id: 7 });
    await fits('post', '/customers', '/customers', undefined, '');
    await fits('get', '/customers', '/customers?limit=1');
    await fits('get', '/customers', '/customers?limit=0');
    await fits('get', '/customers', `/customers?starting_after=${customer['id']}`);
    await fits('get', '/customers/exists', '/customers/exists?email=none');
    await fits('get', '/customers/exists', '/customers/exists?external_id=a');
    await fits('get', '/customers/exists', '/customers/exists');
    await fits('get', '/customers/{id}', `/customers/${customer['id']}`);
    await fits('get', '/customers/{id}', '/customers/none');
    const endpoint = await fits('post', '/webhook-endpoints', '/webhook-endpoints', {
      url: 'http://127.0.0.1:9/',
      events: '*',
    });
    await fits('get', '/webhook-endpoints', '/webhook-endpoints');
    await fits('get', '/webhook-endpoints/{id}', `/webhook-endpoints/${endpoint['id']}`);
    await fits('put', '/webhook-endpoints/{id}', `/webhook-endpoints/${endpoint['id']}`, {
      rotate_secret: true,
    });
    await fits('put', '/webhook-endpoints/{id}', `/webhook-endpoints/${endpoint['id']}`, {
      description: 'x',
    });
    for (const outcome of ['detected', 'completed', 'settled', 'failed', 'reorged']) {
      const deposit = await fits('post', '/test/simulate-deposit', '/test/simulate-deposit', {
        customer_id: customer['id'],
        outcome,
      });
      await fits('get', '/deposits/{id}', `/deposits/${deposit['id']}`);
    }
    await fits('post', '/test/simulate-deposit', '/test/simulate-deposit', {}, api.keys.live);
    await fits('post', '/test/simulate-deposit', '/test/simulate-deposit', { customer_id: 'none' });
    await fits('get', '/deposits', '/deposits');
    await fits('get', '/balance', '/balance');
    await fits('get', '/merchant-balances', '/merchant-balances');
    const event = await fits(
      'post',
      '/webhook-endpoints/{id}/test',
      `/webhook-endpoints/${endpoint['id']}/test`,
    );
    await fits('get', '/events/{id}', `/events/${event['id']}`);
    await fits(
      'get',
      '/webhook-endpoints/{id}/deliveries',
      `/webhook-endpoints/${endpoint['id']}/deliveries`,
    );
    await fits(
      'post',
      '/webhook-deliveries/{id}/resend',
      `/webhook-deliveries/${event['deliveries'][0].id}/resend`,
    );
    const resend = `/webhook-endpoints/${endpoint['id']}/resend-failed`;
    await fits('post', '/webhook-endpoints/{id}/resend-failed', resend, { since: '2026-11-20T09:30:00Z' });
    await fits('post', '/webhook-endpoints/{id}/resend-failed', resend, {});
    const order = {
      customer_id: customer['id'],
      amount_usd: '12.50',
      description: 'x',
      metadata: { a: [1] },
      success_url: 'https://a.example/',
    };
    const link = await fits('post', '/request-payment', '/request-payment', {
      ...order,
      webhook_url: 'http://127.0.0.1:9/',
    });
    for (const body of [{}, { ...order, amount_usd: 1 }, { ...order, customer_id: 'x' }])
      await fits('post', '/request-payment', '/request-payment', body);
    await fits('get', '/payments/{token}', `/payments/${link['token']}`, undefined, '');
    await fits('get', '/payments/{token}', '/payments/none', undefined, '');
    await fits('get', '/payments', '/payments');
    await fits('post', '/test/simulate-deposit', '/test/simulate-deposit', {
      customer_id: customer['id'],
      amount: '12.5',
    });
    await fits('get', '/payment-links/{id}', `/payment-links/${link['id']}`);
    await fits('get', '/payment-links', '/payment-links?status=completed');
    await fits('get', '/payments/{token}', `/payments/${link['token']}`, undefined, '');
    await fits('post', '/payment-links/{id}/cancel', `/payment-links/${link['id']}/cancel`);
    const open = await fits('post', '/request-payment', '/request-payment', { ...order, amount_usd: 99 });
    await fits('post', '/payment-links/{id}/cancel', `/payment-links/${open['id']}/cancel`);
    await fits('delete', '/webhook-endpoints/{id}', `/webhook-endpoints/${endpoint['id']}`);
    const bodies = await api.deps.orm.em
      .fork()
      .execute<{ type: string; body: string }[]>(
        `select type, convert_from(body, 'utf8') as body from events`,
      );
    for (const { type, body } of bodies) {
      const validate = ajv.getSchema(
        pointer('webhooks', type, 'post', 'requestBody', 'content', JSON_TYPE, 'schema'),
      );
      expect(validate?.(JSON.parse(body)), `${type}: ${JSON.stringify(validate?.errors)}`).to.equal(true);
    }
  });

  it('tells the truth about sessions', async () => {
    const user = await newUser(api);
    const answers = [
      await postLogin(api, user),
      await postLogin(api, user, { password: 'wrong' }),
      await postLogin(api, user, { email: '' }),
    ];
    const forged = await postLogin(api, user, { headers: { Origin: 'https://evil.example' } });
    expect([...answers, forged].map(({ status }) => status)).to.deep.equal([200, 401, 400, 403]);
    for (const answer of [...answers, forged]) expectFits(answer, '/login', 'post');
    const cookie = answers[0] ? cookieOf(answers[0]) : '';
    const listed = await call(`${api.url}/payments`, { headers: { Cookie: cookie, 'X-Mode': 'test' } });
    expect(listed.status).to.equal(200);
    expectFits(listed, '/payments', 'get');
    expectFits(
      await call(`${api.url}/payments`, { headers: { Cookie: cookie, 'X-Mode': 'no' } }),
      '/payments',
      'get',
    );
    const left = await call(`${api.origin}/logout`, { method: 'POST', headers: { Cookie: cookie } });
    expect(left.status).to.equal(200);
    expectFits(left, '/logout', 'post');
  });

  it('describes bodies that the API takes', async () => {
    const validate = ajv.getSchema(
      pointer('paths', '/test/simulate-deposit', 'post', 'requestBody', 'content', JSON_TYPE, 'schema'),
    );
    expect(validate?.({ customer_id: 'x', amount: 12.5, network: 'tron', outcome: 'settled' })).to.equal(
      true,
    );
    expect(validate?.({ customer_id: 'x', outcome: 'done' })).to.equal(false);
    const request = ajv.getSchema(
      pointer('paths', '/request-payment', 'post', 'requestBody', 'content', JSON_TYPE, 'schema'),
    );
    const amounts = [5, '5.00', 1_000_001, '5.001', '1e3', true, null];
    expect(amounts.map((amount_usd) => request?.({ email: 'a@b.example', amount_usd }))).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    const link = [
      { amount: 5, customer_id: 'x' },
      { amount: 5, amount_usd: null, email: 'a@b.example' },
      { amount: 5 },
      { email: 'a@b.example' },
    ];
    expect(link.map((body) => request?.(body))).to.deep.equal([true, true, false, false]);
    const customer = ajv.getSchema(
      pointer('paths', '/customers', 'post', 'requestBody', 'content', JSON_TYPE, 'schema'),
    );
    const names = [
      { external_id: 'a' },
      { external_id: null, email: 'a@b.example' },
      {},
      { external_id: ' ' },
      { email: 'a' },
    ];
    expect(names.map((body) => customer?.(body))).to.deep.equal([true, true, false, false, false]);
    const endpoint = ajv.getSchema(
      pointer('paths', '/webhook-endpoints', 'post', 'requestBody', 'content', JSON_TYPE, 'schema'),
    );
    expect(endpoint?.({ url: 'https://shop.example/', events: '*' })).to.equal(true);
    expect(endpoint?.({ url: 'https://shop.example/', events: ['deposit.completed'] })).to.equal(true);
    expect(endpoint?.({ url: 'https://shop.example/', enabled_events: 'deposit.completed' })).to.equal(true);
    for (const events of ['', [], 'deposit', ['deposit'], undefined])
      expect(endpoint?.({ url: 'https://shop.example/', events })).to.equal(false);
    const resend = ajv.getSchema(
      pointer(
        'paths',
        '/webhook-endpoints/{id}/resend-failed',
        'post',
        'requestBody',
        'content',
        JSON_TYPE,
        'schema',
      ),
    );
    expect([{ since: '2026-11-20T09:30:00Z' }, {}, { since: 1 }].map((body) => resend?.(body))).to.deep.equal(
      [true, false, false],
    );
  });
});
