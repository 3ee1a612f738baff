import { expect } from 'chai';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { newUser, signIn, type TestUser } from '../../support/sign-in.ts';

type View = {
  readonly id: string;
  readonly current: boolean;
  readonly created_at: string;
  readonly last_seen_at: string;
};

describe('the own sessions of a person', function () {
  this.timeout(60_000);
  let api: TestApi;
  let user: TestUser;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await newUser(api);
  });

  const ask = (method: string, path: string, cookie?: string, headers: Record<string, string> = {}) =>
    call(`${api.origin}${path}`, {
      method,
      headers: { ...(cookie === undefined ? {} : { Cookie: cookie }), ...headers },
    });
  const list = async (cookie: string) => (await ask('GET', '/sessions', cookie)).body['data'] as View[];

  it('are listed without what proves them, and nobody else’s are', async () => {
    const [phone, desk] = [await signIn(api, user), await signIn(api, user)];
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

  it('end one by one and all others together, at once, also while the subscription has lapsed', async () => {
    const [phone, desk, lost] = [await signIn(api, user), await signIn(api, user), await signIn(api, user)];
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

  it('cannot be ended by a stranger, by a stranger’s page, or without a session', async () => {
    const cookie = await signIn(api, user);
    const id = (await list(cookie))[0]?.id;
    const stranger = await signIn(api, await newUser(api));
    for (const other of [id, UNKNOWN_ID, 'x'])
      expect((await ask('DELETE', `/sessions/${other}`, stranger)).status).to.equal(404);
    const forged = await ask('DELETE', '/sessions', cookie, { Origin: 'https://evil.example' });
    expect([forged.status, forged.body['code']]).to.deep.equal([403, 'CSRF']);
    for (const [method, path] of [['GET', '/sessions'] as const, ['DELETE', '/sessions'] as const]) {
      expect((await ask(method, path)).status).to.equal(401);
      expect((await call(`${api.origin}${path}`, { method, key: api.keys.live })).status).to.equal(401);
    }
    expect(await list(cookie)).to.have.length(1);
    expect((await ask('DELETE', `/sessions/${id}`, cookie)).headers.getSetCookie()[0]).to.match(
      /^ch_session=;/,
    );
  });
});
