import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { accountHash } from '../../../src/services/access/account-hash.ts';
import { allowNetwork } from '../../../src/services/access/allowlist.ts';
import { VERIFY_SNIPPET } from '../../../src/web/docs/events.ts';
import { apiOf, call } from '../../support/gateway.ts';
import { newUser, postLogin, signIn } from '../../support/sign-in.ts';

const SITE = '192.0.2.7';

describe('the line of a request', () => {
  const api = apiOf({
    limits: { requestsPerSecond: 0.001, requestsBurst: 3 },
    trustedProxies: ['127.0.0.1'],
  });

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

  it('says which key or user of which merchant asked, in which mode, from which network and what for', async () => {
    const line = await lineOf('/api/v1/balance', { key: api.keys.test });
    const request = { level: 'info', method: 'GET', route: '/api/v1/balance', status: 200, network: SITE };
    expect(line).to.include({ ...request, mode: 'test', merchantId: api.merchant.id });
    expect(line)
      .to.have.property('keyId')
      .that.matches(/^[0-9a-f-]{36}$/);
    const user = await newUser(api);
    const Cookie = await signIn(api, user, { from: SITE });
    const bySession = await lineOf('/api/v1/balance', { headers: { Cookie } });
    const { id: userId, merchantId } = user;
    expect(bySession).to.include({ level: 'info', userId, merchantId, mode: 'live', status: 200 });
  });

  it('is a warning with its code for 401, 403 and 429', async () => {
    const unknown = await lineOf('/api/v1/balance', { key: 'sk_test_x' });
    expect(unknown).to.include({ level: 'warn', status: 401, code: 'UNAUTHORIZED', network: SITE });
    const { id, keys } = await api.newMerchant();
    await allowNetwork(api.deps, { merchantId: id, network: '198.51.100.0/24' });
    const stolen = await lineOf('/api/v1/balance', { key: keys.live });
    const warning = { level: 'warn', status: 403, code: 'IP_NOT_ALLOWED', network: SITE };
    expect(stolen).to.include({ ...warning, merchantId: id, mode: 'live' });
    expect(stolen).to.have.property('keyId');
    const { keys: busy } = await api.newMerchant();
    for (let turn = 0; turn < 3; turn += 1) await call(`${api.url}/balance`, { key: busy.live });
    const limited = await lineOf('/api/v1/balance', { key: busy.live });
    expect(limited).to.include({ level: 'warn', status: 429, code: 'RATE_LIMITED' });
  });

  it('says of a refused login whose account it was by a hash that needs the key: one for each account, also for one that nobody has', async () => {
    const user = await newUser(api);
    let addresses = 0;
    const accountOf = async (email: string, password = 'not the password') => {
      addresses += 1;
      const before = api.lines.length;
      await postLogin(api, { email, password }, { from: `192.0.6.${addresses}` });
      const lines = api.lines.slice(before);
      expect(JSON.stringify(lines)).to.not.contain(email.slice(0, 5));
      return lines.find(({ text }) => text === 'request')?.fields['account'];
    };
    const account = String(await accountOf(user.email));
    expect(account).to.match(/^[0-9a-f]{16}$/);
    expect(await accountOf(` ${user.email.toUpperCase()}`), 'in another spelling').to.equal(account);
    expect(await accountOf('nobody@example.com'))
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(account);
    expect(await accountOf(user.email, user.password), 'signed in').to.equal(undefined);
    for (const text of [user.email, `account${user.email}`, `account:${user.email}`])
      expect(hash('sha256', text).startsWith(account), 'had without the key').to.equal(false);
    expect(accountHash(createSecretBox(randomBytes(32)), user.email)).to.not.equal(account);
    expect(accountHash(api.deps.secretBox, user.email)).to.equal(account);
  });
});

describe('verifiers written by hand', () => {
  it('refuse an empty secret, with which anybody could sign', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/webhooks.md'), 'utf8');
    const inDocs = /```js\n(import \{ createHmac[\s\S]*?)```/.exec(guide)?.[1] ?? '';
    for (const snippet of [VERIFY_SNIPPET, inDocs]) {
      const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(snippet)}`);
      expect(() => isGenuine('', {}, Buffer.from('{}'))).to.throw('secret is empty');
      expect(isGenuine('whsec_x', {}, Buffer.from('{}'))).to.equal(false);
    }
  });
});
