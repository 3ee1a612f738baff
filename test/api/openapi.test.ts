import Ajv2020 from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { type Answer, apiOf, call } from '../support/gateway.ts';
import { cookieOf, newUser, postLogin } from '../support/sign-in.ts';

type Operation = { responses: Record<string, object> };
type Document = {
  paths: Record<string, Record<string, Operation>>;
};

const JSON_TYPE = 'application/json';

describe('the description at GET /openapi.json', () => {
  const api = apiOf();
  let document: Document;
  let ajv: InstanceType<typeof Ajv2020.default>;
  before(async () => {
    document = (await call(`${api.origin}/openapi.json`)).body as Document;
    ajv = new Ajv2020.default({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'api', ...document });
  });

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

  it('tells the truth about the answers of every route, good and bad', async () => {
    const key = api.keys.test;
    const fits = async (
      method: string,
      path: string,
      url: string,
      body?: unknown,
      by: string | undefined = key,
    ) => {
      const answer = await call(api.url + url, {
        method: method.toUpperCase(),
        ...(by === '' ? {} : { key: by }),
        ...(body === undefined ? {} : { body }),
      });
      expectFits(answer, path, method);
      return answer.body;
    };
    /** A request under its own path, and one with ids in it. */
    const at = (method: string, path: string, body?: unknown, by?: string) =>
      fits(method, path, path, body, by);
    const get = (path: string, id: string) => fits('get', path, path.replace(/\{\w+\}/, id));
    const post = (path: string, id: string, body?: unknown) =>
      fits('post', path, path.replace(/\{\w+\}/, id), body);
    const customer = await at('post', '/customers', { external_id: 'a', metadata: { deep: [{ a: 1 }] } });
    for (const body of [{ external_id: 'a' }, { external_id: 7 }]) await at('post', '/customers', body);
    await at('post', '/customers', undefined, '');
    for (const query of ['limit=1', 'limit=0', `starting_after=${customer['id']}`])
      await fits('get', '/customers', `/customers?${query}`);
    for (const query of ['email=none', 'external_id=a', ''])
      await fits('get', '/customers/exists', `/customers/exists?${query}`);
    for (const id of [customer['id'], 'none']) await get('/customers/{id}', id);
    const endpoint = await at('post', '/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: '*' });
    await at('get', '/webhook-endpoints');
    await get('/webhook-endpoints/{id}', endpoint['id']);
    for (const body of [{ rotate_secret: true }, { description: 'x' }])
      await fits('put', '/webhook-endpoints/{id}', `/webhook-endpoints/${endpoint['id']}`, body);
    for (const outcome of ['detected', 'completed', 'settled', 'failed', 'reorged']) {
      const made = await at('post', '/test/simulate-deposit', { customer_id: customer['id'], outcome });
      await get('/deposits/{id}', made['id']);
    }
    await at('post', '/test/simulate-deposit', {}, api.keys.live);
    await at('post', '/test/simulate-deposit', { customer_id: 'none' });
    for (const path of ['/deposits', '/balance', '/merchant-balances', '/payments', '/events'])
      await at('get', path);
    const event = await post('/webhook-endpoints/{id}/test', endpoint['id']);
    await get('/events/{id}', event['id']);
    await get('/webhook-endpoints/{id}/deliveries', endpoint['id']);
    await post('/webhook-deliveries/{id}/resend', event['deliveries'][0].id);
    for (const body of [{ since: '2026-11-20T09:30:00Z' }, {}])
      await post('/webhook-endpoints/{id}/resend-failed', endpoint['id'], body);
    const order = {
      customer_id: customer['id'],
      amount_usd: '12.50',
      description: 'x',
      metadata: { a: [1] },
      success_url: 'https://a.example/',
    };
    const link = await at('post', '/request-payment', { ...order, webhook_url: 'http://127.0.0.1:9/' });
    for (const body of [{}, { ...order, amount_usd: 1 }, { ...order, customer_id: 'x' }])
      await at('post', '/request-payment', body);
    for (const token of [link['token'], 'none']) await get('/payments/{token}', token);
    await at('post', '/test/simulate-deposit', { customer_id: customer['id'], amount: '12.5' });
    await get('/payment-links/{id}', link['id']);
    await fits('get', '/payment-links', '/payment-links?status=completed');
    await get('/payments/{token}', link['token']);
    await post('/payment-links/{id}/cancel', link['id']);
    const open = await at('post', '/request-payment', { ...order, amount_usd: 99 });
    await post('/payment-links/{id}/cancel', open['id']);
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
    const answers = [];
    for (const more of [{}, { password: 'wrong' }]) answers.push(await postLogin(api, user, more));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 401]);
    for (const answer of answers) expectFits(answer, '/login', 'post');
    const cookie = answers[0] ? cookieOf(answers[0]) : '';
    const listed = await call(`${api.url}/payments`, { headers: { Cookie: cookie } });
    expect(listed.status).to.equal(200);
    expectFits(listed, '/payments', 'get');
    const left = await call(`${api.origin}/logout`, { method: 'POST', headers: { Cookie: cookie } });
    expect(left.status).to.equal(200);
    expectFits(left, '/logout', 'post');
  });
});
