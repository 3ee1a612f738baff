import { expect } from 'chai';
import { z } from 'zod';
import { ok, route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/index.ts';
import { addSession, createSessionFinder, purgeSessions } from '../../src/services/access/sessions.ts';
import { createUser, resetPassword } from '../../src/services/access/users.ts';
import { setSubscription } from '../../src/services/merchants.ts';
import { call, startTestApi, type TestApi, testDeps } from '../support/gateway.ts';
import { cookieOf, newUser, postLogin, signIn, type TestUser } from '../support/sign-in.ts';

const MINUTE_MS = 60_000;
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

const forPeople = route({
  ...{ method: 'get', path: '/for-people', auth: 'merchant', only: 'session', tag: 'Test', statuses: [200], summary: 'For people' },
  response: z.strictObject({}),
  handler: async () => ok({}),
});

describe('sessions of people', () => {
  let api: TestApi;
  let user: TestUser;
  let clockMs = Date.now();
  before(async () => {
    api = await startTestApi({ routes: [...ROUTES, forPeople], deps: { now: () => new Date(clockMs) } });
    user = await newUser(api);
  });
  after(() => api.stop());

  const get = (cookie: string, path = '/customers', headers: Record<string, string> = {}) =>
    call(`${api.url}${path}`, { headers: { Cookie: cookie, ...headers } });
  const tables = async (): Promise<string[]> => {
    const rows = await api.deps.orm.em
      .fork()
      .execute<{ name: string }[]>("select tablename as name from pg_tables where schemaname = 'public'");
    return rows.map((row) => row.name);
  };

  describe('login', () => {
    it('answers with the user and a cookie that has every attribute, and is not cached', async () => {
      const answer = await postLogin(api, user);
      expect([answer.status, answer.body]).to.deep.equal([200, { user_id: user.id, merchant_id: user.merchantId }]);
      const cookies = answer.headers.getSetCookie();
      expect(cookies).to.have.length(1);
      expect(cookies[0]).to.match(/^ch_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
      expect((await get(cookieOf(answer))).status).to.equal(200);
    });

    it('takes a form, and any spelling of the email', async () => {
      const body = new URLSearchParams({ email: ` ${user.email.toUpperCase()} `, password: user.password }).toString();
      const answer = await call(`${api.origin}/login`, { method: 'POST', body, headers: FORM });
      expect([answer.status, answer.body['user_id']]).to.deep.equal([200, user.id]);
    });

    it('refuses every wrong thing with one and the same answer', async () => {
      const answers = [
        await postLogin(api, user, { password: `${user.password}!` }),
        await postLogin(api, user, { email: 'nobody@example.com' }),
        await postLogin(api, user, { email: 'no email', password: 'x' }),
      ];
      for (const answer of answers) {
        expect([answer.status, answer.body['code'], answer.headers.getSetCookie()]).to.deep.equal([401, 'UNAUTHORIZED', []]);
        expect(answer.text).to.equal(answers[0]?.text);
        expect(answer.headers.get('cache-control')).to.equal('no-store');
      }
    });

    it('answers 400, 413 and 415 for what is no login, by the table of the API', async () => {
      const post = (body: string, type: string) => call(`${api.origin}/login`, { method: 'POST', body, headers: { 'Content-Type': type } });
      const json = 'application/json';
      for (const body of ['{', '[]', '{}', '{"email":"a@b"}', '{"email":1,"password":"x"}', '{"email":"a@b","password":""}'])
        expect((await post(body, json)).status, body).to.equal(400);
      expect((await post('email=a%00b&password=x', FORM['Content-Type'])).status).to.equal(400);
      expect((await post(JSON.stringify({ email: 'a@b', password: 'x'.repeat(1_025) }), json)).status).to.equal(400);
      expect((await post('x'.repeat(2_000_000), json)).status).to.equal(413);
      expect((await post('a', 'text/plain')).status).to.equal(415);
      const wrong = await call(`${api.origin}/login`, { method: 'DELETE' });
      expect([wrong.status, wrong.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS, POST']);
    });

    it('gives a new token each time and ends the session that came along, whoever it belonged to', async () => {
      const first = await signIn(api, user);
      const other = await signIn(api, user);
      const next = await signIn(api, await newUser(api), { headers: { Cookie: first } });
      expect(next).to.not.equal(first);
      expect((await get(first)).status).to.equal(401);
      expect((await get(next)).status).to.equal(200);
      expect((await get(other)).status, 'another browser').to.equal(200);
    });

    it('leaves the session that came along alone when it fails', async () => {
      const cookie = await signIn(api, user);
      await postLogin(api, user, { password: 'wrong password', headers: { Cookie: cookie } });
      expect((await get(cookie)).status).to.equal(200);
    });
  });

  describe('the life of a session', () => {
    it('ends when it is not used for 30 minutes, and goes on while it is', async () => {
      const cookie = await signIn(api, user);
      for (let round = 0; round < 3; round += 1) {
        clockMs += 29 * MINUTE_MS;
        expect((await get(cookie)).status, `round ${round}`).to.equal(200);
      }
      clockMs += 30 * MINUTE_MS;
      expect((await get(cookie)).status).to.equal(401);
      clockMs -= MINUTE_MS;
    });

    it('ends 12 hours after the login, however much it is used', async () => {
      const cookie = await signIn(api, user);
      for (let minutes = 25; minutes < 12 * 60; minutes += 25) {
        clockMs += 25 * MINUTE_MS;
        expect((await get(cookie)).status, `${minutes} minutes`).to.equal(200);
      }
      clockMs += 20 * MINUTE_MS;
      expect((await get(cookie)).status).to.equal(401);
    });

    it('is written at most once a minute', async () => {
      const cookie = await signIn(api, user);
      const stamp = async () => {
        const rows = await api.deps.orm.em.fork().execute<{ at: string }[]>('select max(last_seen_at)::text as at from sessions');
        return rows[0]?.at;
      };
      const began = await stamp();
      clockMs += MINUTE_MS - 1;
      await get(cookie);
      expect(await stamp()).to.equal(began);
      clockMs += 1;
      await Promise.all([get(cookie), get(cookie), get(cookie)]);
      expect(await stamp()).to.not.equal(began);
    });

    it('follows the operator: other times hold for sessions that exist', async () => {
      const cookie = await signIn(api, user);
      const token = cookie.slice('ch_session='.length);
      clockMs += 2_000;
      const withTimes = (sessions: { idleMs: number; maxMs: number }) =>
        createSessionFinder({ ...api.deps, settings: { ...api.deps.settings, sessions } })(token);
      expect(await withTimes({ idleMs: 1_000, maxMs: 60_000 })).to.equal(undefined);
      expect(await withTimes({ idleMs: 60_000, maxMs: 1_000 })).to.equal(undefined);
      expect(await withTimes({ idleMs: 60_000, maxMs: 60_000 })).to.include({ userId: user.id });
    });

    it('ends at logout, which takes the cookie away and works without a session too', async () => {
      const cookie = await signIn(api, user);
      const out = await call(`${api.origin}/logout`, { method: 'POST', headers: { Cookie: cookie } });
      expect([out.status, out.body]).to.deep.equal([200, { signed_out: true }]);
      expect(out.headers.getSetCookie()).to.deep.equal(['ch_session=; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=0']);
      expect((await get(cookie)).status).to.equal(401);
      for (const headers of [{ Cookie: cookie }, {}, { Cookie: 'ch_session=nonsense' }] as Record<string, string>[])
        expect((await call(`${api.origin}/logout`, { method: 'POST', headers })).status).to.equal(200);
    });

    it('ends with the password, also for a login that is on its way', async function () {
      this.timeout(20_000);
      let password = user.password;
      const someone = { ...(await newUser(api)) };
      const sitting = await signIn(api, someone);
      password = someone.password;
      for (let round = 0; round < 5; round += 1) {
        const next = `another password ${round}`;
        const [login] = await Promise.all([
          postLogin(api, { ...someone, password }),
          resetPassword(api.deps, { ...someone, password: next }),
        ]);
        expect(login.status).to.be.oneOf([200, 401]);
        if (login.status === 200) expect((await get(cookieOf(login))).status, 'a session of the old password').to.equal(401);
        password = next;
      }
      expect((await get(sitting)).status).to.equal(401);
      expect((await postLogin(api, someone)).status).to.equal(401);
      expect((await postLogin(api, { ...someone, password })).status).to.equal(200);
    });

    it('keeps the latest fifty of a user', async () => {
      const busy = await newUser(api);
      const first = await signIn(api, busy);
      const tokens: string[] = [];
      for (let count = 0; count < 50; count += 1) {
        clockMs += 1;
        tokens.push(await api.deps.orm.em.fork().transactional((em) => addSession(em, api.deps, busy.id)));
      }
      expect((await get(first)).status).to.equal(401);
      for (const token of [tokens[0], tokens[49]]) expect((await get(`ch_session=${token}`)).status).to.equal(200);
    });

    it('leaves no row behind once it has ended, and no budget of attempts', async () => {
      const cookie = await signIn(api, user);
      clockMs += 29 * MINUTE_MS;
      await get(cookie);
      clockMs += 2 * MINUTE_MS;
      await purgeSessions(api.deps);
      expect((await get(cookie)).status, 'a session that is used').to.equal(200);
      clockMs += 61 * MINUTE_MS;
      await purgeSessions(api.deps);
      for (const table of ['sessions', 'login_budgets'])
        expect(await api.deps.orm.em.fork().execute(`select 1 from ${table}`), table).to.have.length(0);
    });
  });

  it('keeps its token out of the database and of the log', async () => {
    const cookie = await signIn(api, user);
    await get(cookie);
    await get(cookie, '/nothing');
    const token = cookie.slice('ch_session='.length);
    expect(JSON.stringify(api.lines)).to.not.contain(token);
    expect(JSON.stringify(api.lines)).to.not.contain(user.password);
    for (const table of await tables()) {
      const found = await api.deps.orm.em
        .fork()
        .execute(`select 1 from "${table}" as t where strpos(row_to_json(t)::text, ?) > 0`, [token]);
      expect(found, table).to.have.length(0);
    }
  });

  it('costs no look into the database when the cookie cannot be a token', async () => {
    const away = await testDeps('postgres://nobody:none@127.0.0.1:1/none', []);
    const find = createSessionFinder(away);
    for (const token of ['x', 'a'.repeat(42), 'a'.repeat(44), `${'a'.repeat(42)}=`, "' or 1=1 --", 'a'.repeat(10_000)])
      expect(await find(token), token.slice(0, 50)).to.equal(undefined);
    const outcome = await find('a'.repeat(43)).then(
      () => 'found',
      () => 'asked',
    );
    expect(outcome, 'a token of the right shape').to.equal('asked');
    await away.orm.close(true);
  });

  describe('as a credential', () => {
    let cookie: string;
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
          expect([bySession.status, bySession.text], `${path} ${mode}`).to.deep.equal([byKey.status, byKey.text]);
        }
    });

    it('does not show what another merchant has', async () => {
      const other = await api.newMerchant();
      const theirs = await call(`${api.url}/customers`, { key: other.keys.live, body: { external_id: 'theirs' } });
      expect((await get(cookie, `/customers/${theirs.body['id']}`)).status).to.equal(404);
      const stranger = await signIn(api, await newUser(api, other.id));
      expect((await get(stranger, `/customers/${theirs.body['id']}`)).status).to.equal(200);
    });

    it('reads the mode from X-Mode: live unless it says test, and 400 for what is neither', async () => {
      const isLive = async (headers: Record<string, string>) => {
        const answer = await get(cookie, '/customers?limit=1', headers);
        return answer.status === 200 ? answer.body['data'][0].is_live : answer.status;
      };
      for (const mode of ['live', 'test'] as const) {
        const body = { external_id: `mode-${mode}-${Math.random()}` };
        await call(`${api.url}/customers`, { key: api.keys[mode], body });
      }
      const table: [Record<string, string>, boolean | number][] = [
        [{}, true],
        [{ 'X-Mode': 'live' }, true],
        [{ 'X-Mode': 'test' }, false],
        [{ 'x-mode': 'test' }, false],
        ...['TEST', 'Test', 'sandbox', 'test, test', 'live, test', '1', 'true'].map((value): [Record<string, string>, number] => [
          { 'X-Mode': value },
          400,
        ]),
      ];
      for (const [headers, expected] of table) expect(await isLive(headers), JSON.stringify(headers)).to.equal(expected);
      const byKey = await call(`${api.url}/customers?limit=1`, { key: api.keys.live, headers: { 'X-Mode': 'sandbox' } });
      expect([byKey.status, byKey.body['data'][0].is_live], 'a key decides by itself').to.deep.equal([200, true]);
      const simulate = { headers: { Cookie: cookie, 'X-Mode': 'TEST' }, body: {} };
      expect((await call(`${api.url}/test/simulate-deposit`, simulate)).body['code'], '403 comes before 400').to.equal('TEST_MODE_ONLY');
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
        ['a session in another spelling of the name', { Cookie: cookie.replace('ch_session', 'CH_SESSION') }, 401],
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
      expect((await postLogin(api, await newUser(api, other.id))).status, 'signing in is still possible').to.equal(200);
    });

    it('opens what is for people only, which a key does not', async () => {
      expect((await get(cookie, '/for-people')).status).to.equal(200);
      for (const key of Object.values(api.keys)) {
        const answer = await call(`${api.url}/for-people`, { key });
        expect([answer.status, answer.body['code']]).to.deep.equal([403, 'SESSION_REQUIRED']);
      }
    });
  });

  it('belongs to one email over the whole installation', async () => {
    const other = await api.newMerchant();
    const again = { merchantId: other.id, email: user.email.toUpperCase(), password: 'one more password' };
    const outcome = await createUser(api.deps, again).then(
      () => 'made',
      (error: Error) => error.message,
    );
    expect(outcome).to.match(/^There is a user .* already\./);
  });
});
