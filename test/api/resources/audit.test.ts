import { expect } from 'chai';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
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
  let api: TestApi;
  let user: TestUser;
  let cookie: string;
  before(async () => {
    api = await startTestApi({ trustedProxies: ['127.0.0.1'] });
    user = await newUser(api);
    cookie = await signIn(api, user);
  });
  after(() => api.stop());

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

  it('each leave a row with who, what and from where, whichever route makes them; a key leaves none', async () => {
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
    const customer = await step('POST', '/customers', '/customers', {
      external_id: 'ann',
      email: 'ann@example.com',
    });
    await step('POST', '/customers/:id/address-page', `/customers/${customer}/address-page`);
    const endpoint = await step('POST', '/webhook-endpoints', '/webhook-endpoints', {
      url: SECRET_PATH,
      events: ['*'],
    });
    await step('PUT', '/webhook-endpoints/:id', `/webhook-endpoints/${endpoint}`, {
      url: 'https://127.0.0.1:9/b',
      rotate_secret: true,
    });
    await step('POST', '/webhook-endpoints/:id/test', `/webhook-endpoints/${endpoint}/test`);
    await step('POST', '/test/simulate-deposit', '/test/simulate-deposit', {
      customer_id: customer,
      amount: '7',
    });
    await api.deps.orm.em
      .fork()
      .execute("update webhook_deliveries set status = 'failed', finished_at = now()");
    const [delivery] = await api.deps.orm.em
      .fork()
      .execute<{ id: string }[]>('select id from webhook_deliveries limit 1');
    await step('POST', '/webhook-deliveries/:id/resend', `/webhook-deliveries/${delivery?.id}/resend`);
    await step(
      'POST',
      '/webhook-endpoints/:id/resend-failed',
      `/webhook-endpoints/${endpoint}/resend-failed`,
      {
        since: '2026-01-01T00:00:00Z',
      },
    );
    const link = await step('POST', '/request-payment', '/request-payment', {
      customer_id: customer,
      amount_usd: 12,
    });
    await step('POST', '/payment-links/:id/cancel', `/payment-links/${link}/cancel`);
    const { token } = (
      await call(`${api.url}/request-payment`, {
        key: api.keys.test,
        body: { customer_id: customer, amount_usd: 9 },
      })
    ).body;
    await step('POST', '/test/expire-payment', '/test/expire-payment', { token });
    await step('DELETE', '/webhook-endpoints/:id', `/webhook-endpoints/${endpoint}`);

    const changing = ROUTES.filter(({ method }) => method !== 'get').map(
      ({ method, path }) => `${method.toUpperCase()} ${path}`,
    );
    expect([...done.keys()], 'every route that changes something is tried here').to.have.members(changing);
    for (const [route, added] of done) {
      expect(added.length, route).to.equal(1);
      expect(added[0], route).to.include({
        by_name: null,
        user_id: user.id,
        merchant_id: user.merchantId,
        mode: 'test',
      });
      expect(added[0]?.origin, route).to.equal('2001:db8:1:2::/64');
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

  it('leave nothing where the change did not happen, and one row for a request that is sent twice', async () => {
    expect(await left(() => act('POST', '/customers', { external_id: 'ann' })), 'a conflict').to.deep.equal(
      [],
    );
    expect(await left(() => act('POST', '/customers', {})), 'a bad request').to.deep.equal([]);
    const once = { 'Idempotency-Key': 'audit-1' };
    const twice = await left(async () => {
      for (const _ of [1, 2])
        expect((await act('POST', '/customers', { external_id: 'bob' }, once)).status).to.equal(201);
    });
    expect(twice).to.have.length(1);
  });

  it('can neither be changed nor removed', async () => {
    const refusal = (sql: string) =>
      api.deps.orm.em
        .fork()
        .execute(sql)
        .then(
          () => 'done',
          (error: Error) => error.message,
        );
    expect(await rows()).to.not.have.length(0);
    for (const sql of [
      "update operator_actions set by_name = 'x'",
      'delete from operator_actions',
      'truncate operator_actions',
    ])
      expect(await refusal(sql), sql).to.contain('never changed or removed');
  });
});
