import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { formPerson } from '../../support/http/form-person.ts';
import { heldBack } from '../../support/http/held-back.ts';
import { newUser, signIn } from '../../support/sign-in.ts';

const NEXT = 'a wholly new battery';

/** Who has a copy of a cookie, or gets a signed-in person to open an address. */
describe('a thief at the dashboard', function () {
  this.timeout(60_000);
  let api: TestApi;
  const clock = { ms: Date.now() };
  before(async () => {
    api = await startTestApi({
      publicUrl: 'https://pay.example.com/gateway',
      deps: { now: () => new Date(clock.ms) },
    });
  });
  after(() => api?.stop());

  const countOf = async (table: string, where: string, value: string): Promise<number> => {
    const rows: { n: number }[] = await api.deps.orm.em
      .fork()
      .execute(`select count(*)::int as n from ${table} where ${where} = ?`, [value]);
    return rows[0]?.n ?? -1;
  };

  it('changes nothing by what was on its way when the sign-in ended', async () => {
    const user = await newUser(api);
    const [person, stolen] = [await formPerson(api, user), await signIn(api, user)];
    const path = '/dashboard/customers/new';
    const members = new URLSearchParams({
      once: await person.onceOf(path),
      external_id: 'held back',
    }).toString();
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: stolen };
    const json = { 'Content-Type': 'application/json', Cookie: stolen };
    const byForm = await heldBack(api.origin + path, members, form);
    const byApi = await heldBack(`${api.url}/customers`, '{"external_id":"held back"}', json);
    await person.post('/dashboard/account/sessions/end-others', {
      once: await person.onceOf('/dashboard/account'),
    });
    expect(await countOf('sessions', 'user_id', user.id), 'the thief is signed out').to.equal(1);
    expect((await byForm()).status, 'to the login').to.equal(303);
    expect((await byApi()).status).to.equal(401);
    expect(await countOf('customers', 'external_id', 'held back')).to.equal(0);
  });

  it('cannot have a page say that password or code were changed, and an old form does not say so either', async () => {
    const user = await newUser(api);
    const person = await formPerson(api, user);
    const says = async (path: string) => /notice good/.test((await person.get(path)).text);
    const at = new Date(clock.ms).toISOString();
    for (const query of ['done=password', 'done=totp-on', 'done=constructor', `done=password&at=${at}&by=x`])
      expect(await says(`/dashboard/account?${query}`), query).to.equal(false);
    const path = '/dashboard/account/password';
    const members = { once: await person.onceOf(path), present: user.password, password: NEXT, again: NEXT };
    const led = ((await person.post(path, members)).location ?? '').replace('/gateway', '');
    expect(await says(led)).to.equal(true);
    expect(await says(led.replace('done=password', 'done=totp-on')), 'of something else').to.equal(false);
    const other = await formPerson(api, { ...user, password: NEXT });
    expect((await other.get(led)).text, 'of another sign-in').to.not.include('notice good');
    clock.ms += 60_000;
    const again = await person.post(path, members);
    expect([again.status, again.location?.replace('/gateway', '')]).to.deep.equal([303, led]);
    expect(await says(led)).to.equal(false);
  });

  it('leaves nothing behind unseen: who removes somebody is told of the withdraw address that waits', async () => {
    const [person, leaver] = [await formPerson(api, await newUser(api)), await newUser(api)];
    const path = `/dashboard/settings/team/${leaver.id}/remove`;
    expect((await person.get(path)).text).to.not.include('asked for another withdraw address');
    const thief = await formPerson(api, leaver);
    const [network, address] = ['bsc', '0x00000000000000000000000000000000000000aA'];
    const form = `/dashboard/settings/withdraw/${network}`;
    const ask = async (to: string) =>
      await thief.post(form, {
        once: await thief.onceOf(form),
        address: to.toLowerCase(),
        'allow_contract.yes': 'on',
        confirm_password: leaver.password,
      });
    expect((await ask(address)).status).to.equal(303);
    const page = (await person.get(path)).text;
    expect(page).to.include('asked for another withdraw address');
    expect(page).to.include('href="/gateway/dashboard/settings/withdraw"');

    // While the owner cancels it, the thief asks for another one: that is what the answer shows.
    const cancelOf = (text: string) =>
      /\/dashboard\/settings\/withdraw\/[0-9a-f-]{36}\/cancel/.exec(text)?.[0];
    const cancel = cancelOf((await person.get('/dashboard/settings/withdraw')).text) ?? '';
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: person.state.cookie };
    const send = await heldBack(api.origin + cancel, `once=${randomUUID()}`, headers);
    const other = '0x00000000000000000000000000000000000000bb';
    expect((await ask(other)).status).to.equal(303);
    const { status, text } = await send();
    expect([status, text.includes('A newer change took the place of this one.')]).to.deep.equal([400, true]);
    expect(text.toLowerCase()).to.include(other);
    expect(cancelOf(text)).to.be.a('string').and.not.equal(cancel);
  });

  it('redirects, copies and signs no live webhook: that needs the password, by form and by API', async () => {
    const [user, url] = [await newUser(api), 'http://127.0.0.1:9/of-the-leaver'];
    const person = await formPerson(api, user);
    const byApi = async (method: string, path: string, mode: 'live' | 'test', body?: unknown) => {
      const headers = { Cookie: person.state.cookie, 'X-Mode': mode, 'Idempotency-Key': `${mode} ${path}` };
      const answer = await call(`${api.url}/webhook-endpoints${path}`, { method, body, headers });
      return [answer.status, answer.body['code']];
    };
    const refused = [403, 'STEP_UP_REQUIRED'];
    expect(await byApi('POST', '', 'live', { url, events: ['*'] })).to.deep.equal(refused);
    expect(await countOf('webhook_endpoints', 'url', url)).to.equal(0);
    expect(await byApi('POST', '', 'test', { url, events: ['*'] }), 'test mode').to.deep.equal([
      201,
      undefined,
    ]);

    const members = { once: randomUUID(), url, 'events.*': 'on', confirm_password: user.password };
    expect((await person.post('/dashboard/endpoints/new', members)).status).to.equal(200);
    const [made] = await api.deps.orm.em
      .fork()
      .execute<{ id: string }[]>("select id from webhook_endpoints where url = ? and mode = 'live'", [url]);
    const stepped = await byApi('PUT', `/${made?.id}`, 'live', { rotate_secret: true });
    expect(stepped, 'within ten minutes').to.deep.equal([200, undefined]);
    const another = () => byApi('POST', '', 'live', { url, events: ['*'] });
    expect([await another(), await another()]).to.deep.equal([
      [201, undefined],
      [201, undefined],
    ]);
    clock.ms += 10 * 60_000;
    expect(await another(), 'a secret that was given before').to.deep.equal(refused);
    expect(await byApi('PUT', `/${made?.id}`, 'live', { enabled: false })).to.deep.equal(refused);
    expect(await byApi('DELETE', `/${made?.id}`, 'live')).to.deep.equal(refused);

    const other = await formPerson(api, await newUser(api));
    const removal = (await other.get(`/dashboard/settings/team/${user.id}/remove`)).text;
    expect(removal).to.include('endpoints that this person set up').and.include(url);
  });

  it('who has what lies above the path of PUBLIC_URL is sent no password and nobody', async () => {
    const page = await call(`${api.origin}/login`, { headers: { Accept: 'text/html' } });
    expect(page.text).to.include('<form class="card" method="post">').and.not.include('action=');
    for (const [next, isKept] of [
      ['/gateway/dashboard?a=b', true],
      ['/gateway', false],
      ['/gateways/', false],
      ['/gateway/%2e%2e/other', false],
    ] as const) {
      const { text } = await call(`${api.origin}/login?next=${encodeURIComponent(next)}`);
      expect(text.includes('name="next"'), next).to.equal(isKept);
    }
    const cookie = await signIn(api, await newUser(api));
    const signedIn = await call(`${api.origin}/login`, { headers: { Cookie: cookie } });
    expect(signedIn.text).to.include('action="/gateway/logout"').and.include('href="/gateway/dashboard"');
  });
});
