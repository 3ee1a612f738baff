import { expect } from 'chai';
import { purgeSessions } from '../../../src/services/access/sessions.ts';
import { resetPassword } from '../../../src/services/access/users.ts';
import { apiOf, call } from '../../support/gateway.ts';
import { cookieOf, newUser, postLogin, signIn, type TestUser } from '../../support/sign-in.ts';

const MINUTE_MS = 60_000;

describe('sessions of people', () => {
  const api = apiOf({ deps: { now: () => new Date(clockMs) } });
  let user: TestUser;
  let clockMs = Date.now();
  before(async () => {
    user = await newUser(api);
  });

  const get = (cookie: string, path = '/customers', headers: Record<string, string> = {}) =>
    call(`${api.url}${path}`, { headers: { Cookie: cookie, ...headers } });
  describe('login', () => {
    it('answers with the user and a cookie that has every attribute, and is not cached', async () => {
      const answer = await postLogin(api, user);
      const who = { user_id: user.id, merchant_id: user.merchantId };
      expect([answer.status, answer.body]).to.deep.equal([200, who]);
      const cookies = answer.headers.getSetCookie();
      expect(cookies).to.have.length(1);
      expect(cookies[0]).to.match(/^ch_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
      expect((await get(cookieOf(answer))).status).to.equal(200);
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
      for (let minutes = 29; minutes < 12 * 60; minutes += 29) {
        clockMs += 29 * MINUTE_MS;
        expect((await get(cookie)).status, `${minutes} minutes`).to.equal(200);
      }
      clockMs += 28 * MINUTE_MS;
      expect((await get(cookie)).status).to.equal(401);
    });

    it('ends at logout, which takes the cookie away and works without a session too', async () => {
      const cookie = await signIn(api, user);
      const out = await call(`${api.origin}/logout`, { method: 'POST', headers: { Cookie: cookie } });
      expect([out.status, out.body]).to.deep.equal([200, { signed_out: true }]);
      expect(out.headers.getSetCookie()).to.deep.equal([
        'ch_session=; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=0',
      ]);
      expect((await get(cookie)).status).to.equal(401);
      for (const Cookie of [cookie, '', 'ch_session=nonsense'])
        expect((await call(`${api.origin}/logout`, { method: 'POST', headers: { Cookie } })).status).to.equal(
          200,
        );
    });

    it('ends with the password, also for a login that is on its way', async function () {
      this.timeout(20_000);
      const someone = await newUser(api);
      const sitting = await signIn(api, someone);
      let { password } = someone;
      for (let round = 0; round < 3; round += 1) {
        const next = `another password ${round}`;
        const [login] = await Promise.all([
          postLogin(api, { ...someone, password }),
          resetPassword(api.deps, { ...someone, password: next }),
        ]);
        expect(login.status).to.be.oneOf([200, 401]);
        if (login.status === 200)
          expect((await get(cookieOf(login))).status, 'a session of the old password').to.equal(401);
        password = next;
      }
      expect((await get(sitting)).status).to.equal(401);
      expect((await postLogin(api, someone)).status).to.equal(401);
      expect((await postLogin(api, { ...someone, password })).status).to.equal(200);
    });
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

  it('keeps its token out of the database and of the log', async () => {
    const cookie = await signIn(api, user);
    await get(cookie);
    await get(cookie, '/nothing');
    const token = cookie.slice('ch_session='.length);
    expect(JSON.stringify(api.lines)).to.not.contain(token);
    expect(JSON.stringify(api.lines)).to.not.contain(user.password);
    const em = api.deps.orm.em.fork();
    const tables = "select tablename as name from pg_tables where schemaname = 'public'";
    for (const { name } of await em.execute<{ name: string }[]>(tables)) {
      const holds = `select 1 from "${name}" as t where strpos(row_to_json(t)::text, ?) > 0`;
      expect(await em.execute(holds, [token]), name).to.have.length(0);
    }
  });
});
