import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { apiOf, call, UNKNOWN_ID } from '../../support/gateway.ts';
import { newUser, signIn, type TestUser } from '../../support/sign-in.ts';

type View = {
  readonly id: string;
  readonly current: boolean;
  readonly created_at: string;
  readonly last_seen_at: string;
};

describe('a session as a credential', () => {
  const api = apiOf();
  let user: TestUser;
  let cookie: string;

  const get = (session: string, path = '/customers', headers: Record<string, string> = {}) =>
    call(`${api.url}${path}`, { headers: { Cookie: session, ...headers } });

  beforeEach(async () => {
    user = await newUser(api);
    cookie = await signIn(api, user);
  });

  it('reads the mode from X-Mode: live unless it says exactly test', async () => {
    const bodies = { live: 'mode-live', test: 'mode-test' };
    for (const mode of ['live', 'test'] as const)
      await call(`${api.url}/customers`, { key: api.keys[mode], body: { external_id: bodies[mode] } });
    for (const mode of [undefined, 'test', 'live', 'TEST', 'test, test', 'true']) {
      const headers: Record<string, string> = mode === undefined ? {} : { 'X-Mode': mode };
      const { status, body } = await get(cookie, '/customers?limit=1', headers);
      expect([status, body['data']?.[0]?.is_live], mode).to.deep.equal([200, mode !== 'test']);
    }
    const headers = { 'X-Mode': 'test' };
    const byKey = await call(`${api.url}/customers?limit=1`, { key: api.keys.live, headers });
    expect(byKey.body['data'][0].is_live, 'beside a key it says nothing').to.equal(true);
  });

  it('is refused beside one that says otherwise, and taken beside one that agrees', async () => {
    const other = await api.newMerchant();
    const second = await signIn(api, user);
    const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
    const dead = `ch_session=${'a'.repeat(43)}`;
    const key = { good: bearer(api.keys.live), test: bearer(api.keys.test) };
    const table: [string, Record<string, string>, number][] = [
      ['the key of the merchant', { Cookie: cookie, ...key.good }, 200],
      ['the test key with X-Mode: test', { Cookie: cookie, 'X-Mode': 'test', ...key.test }, 200],
      ['the same cookie twice', { Cookie: `${cookie}; ${cookie}` }, 200],
      ['other cookies around it', { Cookie: `a=b; ${cookie}; ch_session2=x; xch_session=y` }, 200],
      ['a key of another merchant', { Cookie: cookie, ...bearer(other.keys.live) }, 401],
      ['a key of the other mode', { Cookie: cookie, ...key.test }, 401],
      ['a live key with X-Mode: test', { Cookie: cookie, 'X-Mode': 'test', ...key.good }, 401],
      ['a key that nobody has', { Cookie: cookie, ...bearer(`sk_live_${'a'.repeat(49)}`) }, 401],
      ['a good key and a session that ended', { Cookie: dead, ...key.good }, 401],
      ['two sessions', { Cookie: `${cookie}; ${second}` }, 401],
      ['a session and one that ended', { Cookie: `${cookie}; ${dead}` }, 401],
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

  const ask = (method: string, path: string, cookie?: string, headers: Record<string, string> = {}) =>
    call(`${api.origin}${path}`, {
      method,
      headers: { ...(cookie === undefined ? {} : { Cookie: cookie }), ...headers },
    });
  const list = async (cookie: string) => (await ask('GET', '/sessions', cookie)).body['data'] as View[];

  it('is listed with the others of its person, without what proves them, and nobody else’s are', async () => {
    const [phone, desk] = [cookie, await signIn(api, user)];
    await signIn(api, await newUser(api));
    const seen = await list(desk);
    expect(seen.map(({ current }) => current).sort()).to.deep.equal([false, true]);
    for (const view of seen) {
      const members = ['id', 'current', 'created_at', 'last_seen_at', 'from', 'stepped_up'];
      expect(Object.keys(view)).to.have.members(members);
      expect(view.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    }
    expect((await list(phone)).find(({ current }) => current)?.id).to.equal(
      seen.find(({ current }) => !current)?.id,
    );
  });

  it('ends alone, and all others together, at once, also while the subscription has lapsed', async () => {
    const [phone, desk, lost] = [cookie, await signIn(api, user), await signIn(api, user)];
    await setSubscription(api.deps, { merchantId: user.merchantId, active: false });
    const stolen = (await list(lost)).find(({ current }) => current)?.id;
    const ended = await ask('DELETE', `/sessions/${stolen}`, desk);
    expect([ended.status, ended.body]).to.deep.equal([200, { id: stolen, ended: true }]);
    expect((await ask('GET', '/sessions', lost)).status).to.equal(401);
    expect((await ask('DELETE', `/sessions/${stolen}`, desk)).status, 'a second time').to.equal(404);
    expect((await ask('DELETE', '/sessions', desk)).body).to.deep.equal({ ended: 1 });
    expect((await ask('GET', '/sessions', phone)).status).to.equal(401);
    expect(await list(desk)).to.have.length(1);
    await setSubscription(api.deps, { merchantId: user.merchantId, active: true });
    const rows = await api.deps.orm.em
      .fork()
      .execute<{ action: string }[]>('select action from operator_actions where user_id = ?', [user.id]);
    expect(rows.map(({ action }) => action)).to.deep.equal(['user.end-sessions', 'user.end-sessions']);
  });

  it('changes nothing once it has ended, also by a request that was let in before and brought its body later', async () => {
    const em = api.deps.orm.em.fork();
    const seen = (ago: string) =>
      em.execute(`select 1 from sessions where user_id = ? and last_seen_at > now() - interval '${ago}'`, [
        user.id,
      ]);
    await em.execute("update sessions set last_seen_at = now() - interval '10 minutes' where user_id = ?", [
      user.id,
    ]);
    const body = JSON.stringify({ external_id: 'brought late' });
    const headers = { Cookie: cookie, Origin: api.origin, 'Content-Type': 'application/json' };
    const asked = request(`${api.url}/customers`, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': body.length },
    });
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
    asked.write(body.slice(0, 1));
    await eventually('it is let in', async () => ((await seen('5 minutes')).length === 1 ? true : undefined));
    await em.execute('delete from sessions where user_id = ?', [user.id]);
    asked.end(body.slice(1));
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).to.equal(401);
  });

  it('is not ended by a stranger, by a stranger’s page, or without a session', async () => {
    const id = (await list(cookie))[0]?.id;
    const stranger = await signIn(api, await newUser(api));
    for (const other of [id, UNKNOWN_ID, 'x'])
      expect((await ask('DELETE', `/sessions/${other}`, stranger)).status).to.equal(404);
    const forged = await ask('DELETE', '/sessions', cookie, { Origin: 'https://evil.example' });
    expect([forged.status, forged.body['code']]).to.deep.equal([403, 'CSRF']);
    for (const method of ['GET', 'DELETE']) {
      expect((await ask(method, '/sessions')).status).to.equal(401);
      expect((await call(`${api.origin}/sessions`, { method, key: api.keys.live })).status).to.equal(401);
    }
    expect(await list(cookie)).to.have.length(1);
    expect((await ask('DELETE', `/sessions/${id}`, cookie)).headers.getSetCookie()[0]).to.match(
      /^ch_session=;/,
    );
  });
});
