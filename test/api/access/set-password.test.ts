import { hash } from 'node:crypto';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { PASSWORD_LINK_MS } from '../../../src/services/access/password-links.ts';
import { purgeSessions } from '../../../src/services/access/sessions.ts';
import { createUser, enableTotp, resetPassword } from '../../../src/services/access/users.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { type Answer, call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { newUser, postLogin, signIn, type TestUser } from '../../support/sign-in.ts';

const CHOSEN = 'a chosen horse battery';
const NO_CODE = 'A'.repeat(43);
const SENTENCE = 'This link opens nothing: it was used, replaced by a newer one, or is older than a day.';

describe('a link that sets a password', function () {
  this.timeout(60_000);
  let api: TestApi;
  let second: TestApi;
  let asOperator: Deps;
  let clockMs = Date.now();
  let addresses = 0;
  before(async () => {
    const now = () => new Date(clockMs);
    api = await startTestApi({
      trustedProxies: ['127.0.0.1'],
      deps: { now },
      publicUrl: 'https://pay.example.org',
    });
    const databaseUrl = api.deps.orm.config.get('clientUrl') as string;
    const deps = { now, secretBox: api.deps.secretBox };
    second = await startTestApi({
      trustedProxies: ['127.0.0.1'],
      deps,
      databaseUrl,
      publicUrl: 'https://pay.example.org',
    });
    asOperator = { ...api.deps, actor: { kind: 'operator', name: 'ann', from: 'desk' } };
  });
  after(async () => {
    await second.stop();
    await api.stop();
  });

  const newAddress = (): string => {
    addresses += 1;
    return `198.51.${addresses % 250}.1`;
  };
  const linkFor = async ({ email }: Pick<TestUser, 'email'>): Promise<string> =>
    (await resetPassword(asOperator, { email })).link?.token ?? 'no link';
  const set = (
    code: string,
    more: { password?: string; from?: string; headers?: Record<string, string>; at?: TestApi } = {},
  ) =>
    call(`${(more.at ?? api).origin}/set-password`, {
      body: { code, password: more.password ?? CHOSEN },
      headers: { 'X-Forwarded-For': more.from ?? newAddress(), ...more.headers },
    });
  const rows = async <T = Record<string, unknown>>(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<T[]> => await api.deps.orm.em.fork().execute<T[]>(sql, [...values]);
  const told = ({ status, text, headers }: Answer) => [
    status,
    text,
    headers.get('retry-after'),
    headers.getSetCookie(),
  ];

  it('ends the old password and every session at once, sets the new one, and signs nobody in', async () => {
    const user = await newUser(api);
    const cookie = await signIn(api, user);
    const code = await linkFor(user);
    expect(
      (await call(`${api.url}/customers`, { headers: { Cookie: cookie } })).status,
      'the session',
    ).to.equal(401);
    expect((await postLogin(api, user)).status, 'the old password').to.equal(401);

    const done = await set(code);
    expect([done.status, done.body, done.headers.getSetCookie()]).to.deep.equal([
      200,
      { user_id: user.id },
      [],
    ]);
    expect((await postLogin(api, user, { password: CHOSEN })).status).to.equal(200);
  });

  it('is how somebody new begins, who has no password before', async () => {
    const email = 'somebody.new@example.com';
    const { userId, link } = await createUser(asOperator, { merchantId: api.merchant.id, email });
    for (const password of ['', 'null', link?.token ?? '', CHOSEN])
      expect((await postLogin(api, { email, password: password || 'x' })).status).to.equal(401);
    expect((await set(link?.token ?? '')).body).to.deep.equal({ user_id: userId });
    expect((await postLogin(api, { email, password: CHOSEN })).status).to.equal(200);
  });

  it('leaves a row that names who asked for it, and one of its use from where, tied by the id of the link', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    await set(code, { from: '2001:db8:1:2::77' });
    const actions = await rows(
      'select action, by_name, user_id, origin, subject, after from operator_actions where subject = ? order by at, id',
      [user.id],
    );
    const [link] = await rows<{ id: string }>('select id from password_links where user_id = ?', [user.id]);
    const after = { link: link?.id };
    expect(actions).to.have.deep.members([
      {
        action: 'user.reset-password',
        by_name: 'ann',
        user_id: null,
        origin: 'desk',
        subject: user.id,
        after,
      },
      {
        action: 'user.set-password',
        by_name: null,
        user_id: user.id,
        origin: '2001:db8:1:2::/64',
        subject: user.id,
        after,
      },
    ]);
  });

  it('forgets the networks that counted as the owner’s', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    await rows('insert into user_sites (user_id, site, last_login_at) values (?, ?, now())', [
      user.id,
      '203.0.113.9',
    ]);
    await set(code);
    expect(await rows('select site from user_sites where user_id = ?', [user.id])).to.deep.equal([]);
  });

  it('works for one of twenty simultaneous requests at two processes, and for no later one', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const tries = Array.from({ length: 20 }, (_, index) => ({
      at: index % 2 ? api : second,
      password: `${CHOSEN} ${index}`,
    }));
    const answers = await Promise.all(tries.map((one) => set(code, one)));
    const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(winners, answers.map(({ status }) => status).join()).to.have.length(1);
    for (const { status } of answers) expect(status).to.be.oneOf([200, 401, 429]);
    const password = `${CHOSEN} ${winners[0]}`;
    expect((await postLogin(api, user, { password })).status, 'the password of the one').to.equal(200);
    expect((await set(code)).status).to.equal(401);
    expect(
      (
        await rows(`select 1 from operator_actions where action = 'user.set-password' and subject = ?`, [
          user.id,
        ])
      ).length,
    ).to.equal(1);
  });

  it('is one of those that are asked for at the same moment', async () => {
    const user = await newUser(api);
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        resetPassword((index % 2 ? api : second).deps, { email: user.email }),
      ),
    );
    const open = await rows('select id from password_links where user_id = ? and used_at is null', [user.id]);
    expect(open).to.have.length(1);
    const statuses: number[] = [];
    for (const { link } of made) statuses.push((await set(link?.token ?? '')).status);
    expect(statuses.sort()).to.deep.equal([200, 401, 401, 401, 401, 401]);
  });

  it('sets nothing that a reset at the same moment does not end', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const user = await newUser(api);
      const code = await linkFor(user);
      const [used, reset] = await Promise.all([set(code), resetPassword(second.deps, { email: user.email })]);
      expect(used.status).to.be.oneOf([200, 401]);
      expect(
        (await postLogin(api, user, { password: CHOSEN, from: newAddress() })).status,
        `after ${used.status}`,
      ).to.equal(401);
      expect((await set(reset.link?.token ?? '')).status).to.equal(200);
    }
  });

  it('answers alike whether it is unknown, no code, used, replaced, expired, reset since, or of somebody who is gone', async () => {
    const used = await linkFor(await newUser(api));
    await set(used);
    const [one, other, gone] = [await newUser(api), await newUser(api), await newUser(api)];
    const replaced = await linkFor(one);
    const newest = await linkFor(one);
    const resetSince = await linkFor(other);
    await resetPassword(api.deps, { email: other.email, password: other.password });
    const ofNobody = await linkFor(gone);
    await rows('delete from users where id = ?', [gone.id]);
    const expired = await linkFor(await newUser(api));
    const almost = await newUser(api);
    clockMs += 1;
    const lasting = await linkFor(almost);
    clockMs += PASSWORD_LINK_MS - 1;
    const answers = [];
    for (const code of [
      NO_CODE,
      'x',
      `${NO_CODE}A`,
      "' or 1=1 --",
      used,
      replaced,
      resetSince,
      ofNobody,
      expired,
    ])
      answers.push(await set(code));
    for (const answer of answers) expect(told(answer)).to.deep.equal(told(answers[0] as Answer));
    expect([answers[0]?.status, answers[0]?.body]).to.deep.equal([
      401,
      { error: SENTENCE, code: 'UNAUTHORIZED' },
    ]);
    expect((await set(newest)).status, 'a millisecond before, it was a day old').to.equal(401);
    expect((await set(lasting)).status, 'a day but a millisecond').to.equal(200);
    expect((await postLogin(api, other)).status, 'the reset stands').to.equal(200);
  });

  it('keeps the rules of passwords, and a slip uses up neither the link nor the budget', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const from = newAddress();
    const weak: [string, RegExp][] = [
      ['short', /at least 12 characters/],
      ['Password2026!!', /too easy to guess/],
      ['€'.repeat(86), /too easy|at most 256 bytes/],
      [user.email, /must not be the email address/],
    ];
    for (const [password, sentence] of [...weak, ...weak, ...weak.slice(0, 3)]) {
      const refused = await set(code, { password, from });
      expect([refused.status, refused.body['code']], refused.text).to.deep.equal([400, 'VALIDATION_ERROR']);
      expect(refused.body['error']).to.match(sentence);
    }
    const twice = { code, password: CHOSEN, again: `${CHOSEN} ` };
    const differs = await call(`${api.origin}/set-password`, {
      body: twice,
      headers: { 'X-Forwarded-For': from },
    });
    expect([differs.status, differs.body['error']]).to.deep.equal([
      400,
      'The two passwords are not the same.',
    ]);
    expect((await set(code, { from })).status).to.equal(200);
  });

  it('is counted for the network together with logins, before it is looked up', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const from = newAddress();
    const statuses: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      statuses.push((await postLogin(api, user, { password: 'not the password', from })).status);
      statuses.push((await set(NO_CODE, { from })).status);
    }
    expect(statuses).to.deep.equal(Array(10).fill(401));
    const refused = await set(code, { from });
    expect([refused.status, refused.body['code']]).to.deep.equal([429, 'RATE_LIMITED']);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 300);
    expect((await postLogin(api, user, { from })).status, 'a login from there').to.equal(429);
    expect((await set(code)).status, 'from elsewhere').to.equal(200);
  });

  it('takes no place of a budget when it sets a password', async () => {
    const from = newAddress();
    for (let index = 0; index < 12; index += 1)
      expect((await set(await linkFor(await newUser(api)), { from })).status).to.equal(200);
  });

  it('still asks for the code of the authenticator app at the login', async () => {
    const user = await newUser(api);
    const { secret } = await enableTotp(api.deps, user);
    await set(await linkFor(user));
    expect((await postLogin(api, user, { password: CHOSEN })).status).to.equal(401);
    const totp = new TOTP({ secret }).generate({ timestamp: clockMs });
    expect((await postLogin(api, user, { password: CHOSEN, totp })).status).to.equal(200);
  });

  it('is refused from a page of somebody else, over 8 KiB, and in a query', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const strangers: Record<string, string>[] = [
      { Origin: 'https://evil.example' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'null' },
    ];
    for (const headers of strangers) {
      const forged = await set(code, { headers });
      expect([forged.status, forged.body['code']]).to.deep.equal([403, 'CSRF']);
    }
    expect((await set(code, { password: 'x'.repeat(9_000) })).status).to.equal(413);
    const asked = await call(
      `${api.origin}/set-password?code=${code}&password=${encodeURIComponent(CHOSEN)}`,
      { method: 'POST' },
    );
    expect(asked.status).to.equal(400);
    for (const method of ['PUT', 'DELETE'])
      expect(
        (await call(`${api.origin}/set-password`, { method, body: { code, password: CHOSEN } })).status,
      ).to.equal(405);
    expect((await set(code)).status, 'and is as good as before').to.equal(200);
  });

  it('stands nowhere but in the hand of the person: not in rows, not in lines, not in an answer', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const form = {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'text/html',
      'X-Forwarded-For': newAddress(),
    };
    const body = new URLSearchParams({ code, password: CHOSEN, again: CHOSEN }).toString();
    const done = await fetch(`${api.origin}/set-password`, {
      method: 'POST',
      body,
      headers: form,
      redirect: 'manual',
    });
    expect([done.status, done.headers.get('location')]).to.deep.equal([303, 'set-password?done']);
    const stored = await rows('select l.*, a.* from password_links l, operator_actions a');
    expect(JSON.stringify(stored)).to.contain(hash('sha256', code)).and.not.contain(code);
    expect(JSON.stringify([api.lines, second.lines]))
      .to.not.contain(code)
      .and.not.contain(CHOSEN);
    const lines = api.lines.filter(
      ({ text, fields }) => text === 'request' && fields['route'] === '/set-password',
    );
    expect(lines.at(-1)).to.deep.include({ level: 'info' });
  });

  it('is a row for a day, and then none', async () => {
    const [stale, fresh] = [await newUser(api), await newUser(api)];
    await linkFor(stale);
    clockMs += PASSWORD_LINK_MS;
    await linkFor(fresh);
    await purgeSessions(api.deps);
    expect(await rows('select user_id from password_links where used_at is null')).to.deep.equal([
      { user_id: fresh.id },
    ]);
  });

  it('has a page that nobody frames, keeps or reads along, over https alone', async () => {
    const page = await call(`${api.origin}/set-password`);
    expect(page.status).to.equal(200);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy)
      .to.contain("default-src 'none'")
      .and.contain("frame-ancestors 'none'")
      .and.contain("form-action 'self'");
    expect(policy)
      .to.match(/script-src 'sha256-[^']+'(;|$)/)
      .and.not.contain('unsafe');
    expect(page.headers.get('cache-control')).to.equal('no-store');
    expect(page.headers.get('referrer-policy')).to.equal('same-origin');
    expect(page.headers.get('strict-transport-security')).to.contain('max-age=');
    expect(
      (await call(`${api.origin}/login`)).headers.get('content-security-policy'),
      'the login has no script',
    ).to.not.contain('script-src');
  });
});
