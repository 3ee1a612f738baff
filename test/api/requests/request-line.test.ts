import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { accountHash } from '../../../src/services/access/account-hash.ts';
import { allowNetwork } from '../../../src/services/access/allowlist.ts';
import { VERIFY_SNIPPET } from '../../../src/web/docs/events.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { newUser, postLogin, signIn } from '../../support/sign-in.ts';

const SITE = '192.0.2.7';

describe('the line of a request', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi({
      limits: { requestsPerSecond: 0.001, requestsBurst: 3 },
      trustedProxies: ['127.0.0.1'],
    });
  });
  after(() => api.stop());

  const lineOf = async (path: string, input: Parameters<typeof call>[1] = {}) => {
    const before = api.lines.length;
    const answer = await call(api.origin + path, {
      ...input,
      headers: { 'X-Forwarded-For': SITE, ...input.headers },
    });
    const line = api.lines.slice(before).find(({ text }) => text === 'request');
    expect(line?.fields['requestId']).to.equal(answer.headers.get('x-request-id'));
    expect(line?.fields['durationMs']).to.be.a('number');
    expect(JSON.stringify(api.lines)).not.to.match(/sk_(live|test)_|ch_session|correct horse/);
    return { level: line?.level, ...line?.fields };
  };

  it('says which key of which merchant asked, in which mode, from which network and what for', async () => {
    const line = await lineOf('/api/v1/balance', { key: api.keys.test });
    expect(line).to.include({
      level: 'info',
      method: 'GET',
      route: '/api/v1/balance',
      status: 200,
      network: SITE,
      mode: 'test',
      merchantId: api.merchant.id,
    });
    expect(line)
      .to.have.property('keyId')
      .that.matches(/^[0-9a-f-]{36}$/);
  });

  it('says which user asked by a session', async () => {
    const user = await newUser(api);
    const cookie = await signIn(api, user, { from: SITE });
    const line = await lineOf('/api/v1/balance', { headers: { Cookie: cookie } });
    expect(line).to.include({
      level: 'info',
      userId: user.id,
      merchantId: user.merchantId,
      mode: 'live',
      status: 200,
    });
  });

  it('is a warning with its code for 401, 403 and 429', async () => {
    expect(await lineOf('/api/v1/balance', { key: 'sk_test_x' })).to.include({
      level: 'warn',
      status: 401,
      code: 'UNAUTHORIZED',
      network: SITE,
    });
    const { id, keys } = await api.newMerchant();
    await allowNetwork(api.deps, { merchantId: id, network: '198.51.100.0/24' });
    const stolen = await lineOf('/api/v1/balance', { key: keys.live });
    expect(stolen).to.include({
      level: 'warn',
      status: 403,
      code: 'IP_NOT_ALLOWED',
      network: SITE,
      merchantId: id,
      mode: 'live',
    });
    expect(stolen).to.have.property('keyId');
    const { keys: busy } = await api.newMerchant();
    for (let turn = 0; turn < 3; turn += 1) await call(`${api.url}/balance`, { key: busy.live });
    expect(await lineOf('/api/v1/balance', { key: busy.live })).to.include({
      level: 'warn',
      status: 429,
      code: 'RATE_LIMITED',
    });
  });

  it('is the same warning where the refusal was shown to a person as a page', async () => {
    let addresses = 0;
    const post = async (
      path: string,
      fields: Record<string, string>,
      headers: Record<string, string> = {},
    ) => {
      addresses += 1;
      const form = {
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'text/html',
        'X-Forwarded-For': `192.0.3.${addresses}`,
      };
      return await lineOf(path, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: { ...form, ...headers },
      });
    };
    const wrong = { email: 'a@example.com', password: 'not the password' };
    const link = { code: 'x', password: 'a chosen horse battery' };
    for (const [path, fields] of [['/login', wrong] as const, ['/set-password', link] as const]) {
      expect(await post(path, fields)).to.include({
        level: 'warn',
        route: path,
        status: 401,
        code: 'UNAUTHORIZED',
      });
      expect(await post(path, fields, { Origin: 'https://evil.example' })).to.include({
        level: 'warn',
        status: 403,
        code: 'CSRF',
      });
      const from = { 'X-Forwarded-For': `192.0.4.${path.length}` };
      for (let turn = 0; turn < 3; turn += 1) await post(path, fields, from);
      expect(await post(path, fields, from)).to.include({ level: 'warn', status: 429, code: 'RATE_LIMITED' });
      expect(await post(path, { email: 'a' })).to.include({
        level: 'info',
        status: 400,
        code: 'VALIDATION_ERROR',
      });
    }
    const from = { 'X-Forwarded-For': '192.0.5.1' };
    for (let turn = 0; turn < 3; turn += 1) await lineOf('/pay/x', { headers: from });
    expect(await lineOf('/pay/x', { headers: from })).to.include({
      level: 'warn',
      route: '/pay/:token',
      status: 429,
      code: 'RATE_LIMITED',
    });
  });

  it('says of a refused login whose account it was by a hash that needs the key: one for each account, also for one that nobody has', async () => {
    const user = await newUser(api);
    let addresses = 0;
    const accountOf = async (email: string, password = 'not the password') => {
      addresses += 1;
      const before = api.lines.length;
      const { status } = await postLogin(api, { email, password }, { from: `192.0.6.${addresses}` });
      const lines = api.lines.slice(before);
      expect(JSON.stringify(lines)).to.not.contain(email.slice(0, 5));
      return { status, account: lines.find(({ text }) => text === 'request')?.fields['account'] };
    };
    const { account, status } = await accountOf(user.email);
    expect([status, String(account)]).to.satisfy(
      ([one, text]: [number, string]) => one === 401 && /^[0-9a-f]{16}$/.test(text),
    );
    expect((await accountOf(` ${user.email.toUpperCase()}`)).account, 'in another spelling').to.equal(
      account,
    );
    const nobody = await accountOf('nobody@example.com');
    expect(nobody.account)
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(account);
    expect((await accountOf(user.email, user.password)).account, 'signed in').to.equal(undefined);
    for (const text of [user.email, `account${user.email}`, `account:${user.email}`])
      expect(
        hash('sha256', text).startsWith(String(account)),
        'nothing that is had without the key',
      ).to.equal(false);
    const otherKey = accountHash(createSecretBox(randomBytes(32)), user.email);
    expect(otherKey).to.not.equal(account);
    expect(accountHash(api.deps.secretBox, user.email)).to.equal(account);
  });
});

describe('verifiers written by hand', () => {
  it('refuse an empty secret, with which anybody could sign', async () => {
    const inDocs =
      /```js\n(import \{ createHmac[\s\S]*?)```/.exec(
        readFileSync(join(import.meta.dirname, '../../../docs/guides/webhooks.md'), 'utf8'),
      )?.[1] ?? '';
    for (const snippet of [VERIFY_SNIPPET, inDocs]) {
      const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(snippet)}`);
      expect(() => isGenuine('', {}, Buffer.from('{}'))).to.throw('secret is empty');
      expect(isGenuine('whsec_x', {}, Buffer.from('{}'))).to.equal(false);
    }
  });
});
