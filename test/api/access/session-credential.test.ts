import { expect } from 'chai';
import { z } from 'zod';
import { ok, route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { newUser, postLogin, signIn, type TestUser } from '../../support/sign-in.ts';

const forPeople = route({
  method: 'get',
  path: '/for-people',
  operationId: 'forPeople',
  auth: 'merchant',
  scope: 'read',
  only: 'session',
  tag: 'Test',
  statuses: [200],
  summary: 'For people',
  response: z.strictObject({}),
  read: async () => ok({}),
});

describe('a session as a credential', () => {
  let api: TestApi;
  let user: TestUser;
  let cookie: string;
  before(async () => {
    api = await startTestApi({ routes: [...ROUTES, forPeople] });
    user = await newUser(api);
  });
  after(() => api.stop());

  const get = (session: string, path = '/customers', headers: Record<string, string> = {}) =>
    call(`${api.url}${path}`, { headers: { Cookie: session, ...headers } });

  beforeEach(async () => {
    cookie = await signIn(api, user);
  });

  it('gets the same bodies as a key of the same merchant and mode', async () => {
    const made: string[] = [];
    for (const mode of ['live', 'test'] as const) {
      const headers = { Cookie: cookie, 'X-Mode': mode };
      const body = { external_id: `same-${mode}`, email: `${mode}@shop.example` };
      const customer = await call(`${api.url}/customers`, { headers, body });
      expect([customer.status, customer.body['is_live']]).to.deep.equal([201, mode === 'live']);
      made.push(String(customer.body['id']));
    }
    const paths = made.flatMap((id) => [`/customers/${id}`]);
    paths.push(
      '/customers',
      '/customers?limit=1',
      '/customers/exists?external_id=same-live',
      '/customers/exists',
      '/webhook-endpoints',
      '/deposits',
    );
    for (const path of paths)
      for (const mode of ['live', 'test'] as const) {
        const byKey = await call(`${api.url}${path}`, { key: api.keys[mode] });
        const bySession = await get(cookie, path, { 'X-Mode': mode });
        expect([bySession.status, bySession.text], `${path} ${mode}`).to.deep.equal([
          byKey.status,
          byKey.text,
        ]);
      }
  });

  it('does not show what another merchant has', async () => {
    const other = await api.newMerchant();
    const theirs = await call(`${api.url}/customers`, {
      key: other.keys.live,
      body: { external_id: 'theirs' },
    });
    expect((await get(cookie, `/customers/${theirs.body['id']}`)).status).to.equal(404);
    const stranger = await signIn(api, await newUser(api, other.id));
    expect((await get(stranger, `/customers/${theirs.body['id']}`)).status).to.equal(200);
  });

  it('reads the mode from X-Mode: live unless it says exactly test', async () => {
    const isLive = async (headers: Record<string, string>) => {
      const answer = await get(cookie, '/customers?limit=1', headers);
      return answer.status === 200 ? answer.body['data'][0].is_live : answer.status;
    };
    for (const mode of ['live', 'test'] as const) {
      const body = { external_id: `mode-${mode}-${Math.random()}` };
      await call(`${api.url}/customers`, { key: api.keys[mode], body });
    }
    const table: [Record<string, string>, boolean][] = [
      [{}, true],
      [{ 'X-Mode': 'live' }, true],
      [{ 'X-Mode': 'test' }, false],
      [{ 'x-mode': 'test' }, false],
      ...['TEST', 'Test', 'sandbox', 'test, test', 'live, test', '1', 'true'].map(
        (value): [Record<string, string>, boolean] => [{ 'X-Mode': value }, true],
      ),
    ];
    for (const [headers, expected] of table)
      expect(await isLive(headers), JSON.stringify(headers)).to.equal(expected);
    const byKey = await call(`${api.url}/customers?limit=1`, {
      key: api.keys.live,
      headers: { 'X-Mode': 'sandbox' },
    });
    expect([byKey.status, byKey.body['data'][0].is_live], 'a key decides by itself').to.deep.equal([
      200,
      true,
    ]);
    const simulate = { headers: { Cookie: cookie, 'X-Mode': 'TEST' }, body: {} };
    expect(
      (await call(`${api.url}/test/simulate-deposit`, simulate)).body['code'],
      'anything else is live',
    ).to.equal('TEST_MODE_ONLY');
  });

  it('is refused beside one that says otherwise, and taken beside one that agrees', async () => {
    const other = await api.newMerchant();
    const second = await signIn(api, user);
    const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
    const dead = `ch_session=${'a'.repeat(43)}`;
    const table: [string, Record<string, string>, number][] = [
      ['the key of the merchant', { Cookie: cookie, ...bearer(api.keys.live) }, 200],
      ['the test key with X-Mode: test', { Cookie: cookie, 'X-Mode': 'test', ...bearer(api.keys.test) }, 200],
      ['the same cookie twice', { Cookie: `${cookie}; ${cookie}` }, 200],
      [
        'one key in both headers and in the cookie',
        { Cookie: `ch_session=${api.keys.live}`, 'x-api-key': api.keys.live, ...bearer(api.keys.live) },
        200,
      ],
      [
        'a key and another one in the cookie',
        { Cookie: `ch_session=${api.keys.test}`, ...bearer(api.keys.live) },
        401,
      ],
      ['an empty cookie and a key', { Cookie: 'ch_session=', ...bearer(api.keys.live) }, 200],
      ['other cookies around it', { Cookie: `a=b; ${cookie}; ch_session2=x; xch_session=y` }, 200],
      ['a key of another merchant', { Cookie: cookie, ...bearer(other.keys.live) }, 401],
      ['a key of the other mode', { Cookie: cookie, ...bearer(api.keys.test) }, 401],
      ['a live key with X-Mode: test', { Cookie: cookie, 'X-Mode': 'test', ...bearer(api.keys.live) }, 401],
      ['a key that nobody has', { Cookie: cookie, ...bearer(`sk_live_${'a'.repeat(49)}`) }, 401],
      ['a good key and a session that ended', { Cookie: dead, ...bearer(api.keys.live) }, 401],
      ['a good key and a cookie that is no token', { Cookie: 'ch_session=x', ...bearer(api.keys.live) }, 401],
      ['two sessions', { Cookie: `${cookie}; ${second}` }, 401],
      ['a session and one that ended', { Cookie: `${cookie}; ${dead}` }, 401],
      [
        'a session in another spelling of the name',
        { Cookie: cookie.replace('ch_session', 'CH_SESSION') },
        401,
      ],
      ['a session in the query string', {}, 401],
      ['a token as a bearer', bearer(cookie.slice('ch_session='.length)), 401],
    ];
    for (const [name, headers, status] of table) {
      const path = name.includes('query') ? `/customers?${cookie}` : '/customers';
      const answer = await call(`${api.url}${path}`, { headers });
      expect(answer.status, `${name}: ${answer.text}`).to.equal(status);
      if (status === 401) expect(answer.body['code']).to.equal('UNAUTHORIZED');
    }
  });

  it('needs an active subscription like a key', async () => {
    const other = await api.newMerchant();
    const theirs = await signIn(api, await newUser(api, other.id));
    await setSubscription(api.deps, { merchantId: other.id, active: false });
    const answer = await get(theirs);
    expect([answer.status, answer.body['code']]).to.deep.equal([403, 'SUBSCRIPTION_REQUIRED']);
    expect(
      (await postLogin(api, await newUser(api, other.id))).status,
      'signing in is still possible',
    ).to.equal(200);
  });

  it('opens what is for people only, which a key does not', async () => {
    expect((await get(cookie, '/for-people')).status).to.equal(200);
    for (const key of Object.values(api.keys)) {
      const answer = await call(`${api.url}/for-people`, { key });
      expect([answer.status, answer.body['code']]).to.deep.equal([403, 'SESSION_REQUIRED']);
    }
  });
});
