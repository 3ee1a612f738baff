import { expect } from 'chai';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { apiOf, call } from '../../support/gateway.ts';
import { newUser, signIn, type TestUser } from '../../support/sign-in.ts';

type Row = {
  readonly action: string;
  readonly by_name: string | null;
  readonly user_id: string | null;
  readonly origin: string;
  readonly merchant_id: string;
  readonly mode: string;
  readonly subject: string;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
};

const SECRET_PATH = 'https://127.0.0.1:9/hooks/T0KEN-OF-A-RECEIVER?key=s3cret';

describe('changes by a signed-in user', function () {
  this.timeout(60_000);
  const api = apiOf({ trustedProxies: ['127.0.0.1'] });
  let user: TestUser;
  let cookie: string;
  before(async () => {
    user = await newUser(api);
    cookie = await signIn(api, user);
  });

  const rows = async (): Promise<Row[]> =>
    await api.deps.orm.em
      .fork()
      .execute<Row[]>('select * from operator_actions where user_id = ? order by at, id', [user.id]);
  const act = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    await call(`${api.url}${path}`, {
      method,
      body,
      headers: { Cookie: cookie, 'X-Mode': 'test', 'X-Forwarded-For': '2001:db8:1:2::77', ...more },
    });
  /** The rows that a request left. */
  const left = async (work: () => Promise<unknown>): Promise<Row[]> => {
    const before = (await rows()).length;
    await work();
    return (await rows()).slice(before);
  };

  it('each leave a row with who, what and from where, whichever route makes them; a key’s customers leave none', async () => {
    const done = new Map<string, Row[]>();
    const step = async (method: string, route: string, path: string, body?: unknown) => {
      let id = '';
      const added = await left(async () => {
        const answer = await act(method, path, body);
        expect(answer.status, `${method} ${path} ${answer.text}`).to.be.within(200, 201);
        id = String(answer.body['id']);
      });
      done.set(`${method} ${route}`, added);
      return id;
    };
    const post = (route: string, id = '', body?: unknown) =>
      step('POST', route, route.replace(':id', id), body);
    const em = api.deps.orm.em.fork();
    const customer = await post('/customers', '', { external_id: 'ann', email: 'ann@example.com' });
    await post('/customers/:id/address-page', customer);
    const endpoint = await post('/webhook-endpoints', '', { url: SECRET_PATH, events: ['*'] });
    const at = `/webhook-endpoints/${endpoint}`;
    const change = { url: 'https://127.0.0.1:9/b', rotate_secret: true };
    await step('PUT', '/webhook-endpoints/:id', at, change);
    await post('/webhook-endpoints/:id/test', endpoint);
    await post('/test/simulate-deposit', '', { customer_id: customer, amount: '7' });
    await em.execute("update webhook_deliveries set status = 'failed', finished_at = now()");
    const [delivery] = await em.execute<{ id: string }[]>('select id from webhook_deliveries limit 1');
    await post('/webhook-deliveries/:id/resend', delivery?.id);
    await post('/webhook-endpoints/:id/resend-failed', endpoint, { since: '2026-01-01T00:00:00Z' });
    const link = await post('/request-payment', '', { customer_id: customer, amount_usd: 12 });
    await post('/payment-links/:id/cancel', link);
    const order = { key: api.keys.test, body: { customer_id: customer, amount_usd: 9 } };
    const { token } = (await call(`${api.url}/request-payment`, order)).body;
    await post('/test/expire-payment', '', { token });
    await step('DELETE', '/webhook-endpoints/:id', at);

    const changing = ROUTES.filter(({ method }) => method !== 'get').map(
      ({ method, path }) => `${method.toUpperCase()} ${path}`,
    );
    expect([...done.keys()], 'every route that changes something is tried here').to.have.members(changing);
    for (const [route, added] of done) {
      expect(added.length, route).to.equal(1);
      const { id: user_id, merchantId: merchant_id } = user;
      const by = { by_name: null, user_id, merchant_id, mode: 'test', origin: '2001:db8:1:2::/64' };
      expect(added[0], route).to.include(by);
    }
    const text = JSON.stringify([...done.values()]);
    for (const hidden of ['T0KEN', 's3cret', 'whsec_', 'ann@example.com', user.email])
      expect(text).to.not.contain(hidden);
    const changed = done.get('PUT /webhook-endpoints/:id')?.[0];
    expect(Object.keys(changed?.after ?? {})).to.have.members(['url', 'secret_ends_with']);
    expect(changed?.before?.['url']).to.match(/^https:\/\/127\.0\.0\.1:9\/… \([0-9a-f]{8}\)$/);
    expect(changed?.before?.['url']).to.not.equal(changed?.after?.['url']);

    const byKey = await left(() =>
      call(`${api.url}/customers`, { key: api.keys.test, body: { external_id: 'key' } }),
    );
    expect(byKey).to.deep.equal([]);
  });

  it('by a key leave a row with the key and its network where they outlive the request', async () => {
    const [found] = await api.deps.orm.em
      .fork()
      .execute<{ id: string }[]>("select id from api_keys where merchant_id = ? and mode = 'test'", [
        api.merchant.id,
      ]);
    const keyRows = async () =>
      await api.deps.orm.em
        .fork()
        .execute(
          'select action, key_id, by_name, user_id, origin, mode from operator_actions where key_id is not null order by at, id',
        );
    const byKey = async (method: string, path: string, body?: unknown) => {
      const headers = { 'X-Forwarded-For': '2001:db8:1:2::78' };
      const answer = await call(`${api.url}${path}`, { method, key: api.keys.test, body, headers });
      expect(answer.status, `${path} ${answer.text}`).to.be.within(200, 201);
      return String(answer.body['id']);
    };
    const customer = await byKey('POST', '/customers', { external_id: 'by a key' });
    await byKey('POST', '/request-payment', { customer_id: customer, amount_usd: 12 });
    await byKey('POST', `/customers/${customer}/address-page`);
    const endpoint = await byKey('POST', '/webhook-endpoints', { url: SECRET_PATH, events: ['*'] });
    await byKey('PUT', `/webhook-endpoints/${endpoint}`, { description: 'x' });
    await byKey('POST', `/webhook-endpoints/${endpoint}/resend-failed`, { since: '2026-01-01T00:00:00Z' });
    await byKey('DELETE', `/webhook-endpoints/${endpoint}`);
    const actions = [
      'customer.new-page',
      'endpoint.create',
      'endpoint.change',
      'endpoint.resend-failed',
      'endpoint.delete',
    ];
    const by = { key_id: found?.id, by_name: null, user_id: null, origin: '2001:db8:1:2::/64', mode: 'test' };
    expect(await keyRows()).to.deep.equal(actions.map((action) => ({ action, ...by })));
    const pages = await call(`${api.origin}/dashboard/test/settings/audit`, { headers: { Cookie: cookie } });
    expect(pages.text).to.match(new RegExp(`API key .*${found?.id}`));
  });

  it('and each list that leaves as a file, leave a row', async () => {
    const file = async (query: string) =>
      (await call(`${api.origin}/dashboard/customers.csv${query}`, { headers: { Cookie: cookie } })).status;
    const added = await left(async () => expect(await file('')).to.equal(200));
    expect(added).to.have.length(1);
    expect(added[0]).to.include({ action: 'list.export', subject: 'customers', mode: 'live' });
    expect(await left(() => file('?limit=x')), 'what was refused').to.deep.equal([]);
  });

  it('leave nothing where the change did not happen, and one row for a request that is sent twice', async () => {
    expect(await left(() => act('POST', '/customers', { external_id: 'ann' })), 'a conflict').to.deep.equal(
      [],
    );
    const once = { 'Idempotency-Key': 'audit-1' };
    const twice = await left(async () => {
      for (const _ of [1, 2])
        expect((await act('POST', '/customers', { external_id: 'bob' }, once)).status).to.equal(201);
    });
    expect(twice).to.have.length(1);
  });
});
