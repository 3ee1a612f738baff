import { expect } from 'chai';
import { z } from 'zod';
import { ok, route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { generateKey } from '../../../src/services/merchants/key-text.ts';
import { createKey, revokeKey, rotateKey } from '../../../src/services/merchants/keys.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { talk } from '../../support/http/raw-http.ts';
import { expectError } from './expect-error.ts';

const lying = route({
  method: 'get',
  path: '/lying',
  operationId: 'lying',
  auth: 'none',
  scope: 'none',
  tag: 'Test',
  statuses: [200],
  summary: 'Lies',
  response: z.strictObject({ a: z.string() }),
  read: async () => ok({ a: 'x', secret: 'leak' } as { a: string }),
});
const failing = route({
  method: 'get',
  path: '/failing',
  operationId: 'failing',
  auth: 'none',
  scope: 'none',
  tag: 'Test',
  statuses: [200],
  summary: 'Fails',
  response: z.strictObject({}),
  read: async () => {
    throw new Error('select * from secrets at /home/gateway/app.ts');
  },
});

describe('the error table of the API', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi({ routes: [...ROUTES, lying, failing] });
  });
  after(() => api.stop());

  it('answers an unknown route with 404 before it asks for a key', async () => {
    for (const path of ['/nothing', '/customers/a/b', '/customer', '/test'])
      expectError(await call(api.url + path), 404, 'NOT_FOUND');
    expectError(await call(`${api.origin}/nowhere`), 404, 'NOT_FOUND');
    expectError(await call(`${api.origin}/api/v2/customers`), 404, 'NOT_FOUND');
  });

  it('answers a wrong method with 405 and the methods there are, before it asks for a key', async () => {
    const answer = await call(`${api.url}/customers`, { method: 'DELETE' });
    expectError(answer, 405, 'METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).to.equal('GET, HEAD, OPTIONS, POST');
    expectError(
      await call(`${api.url}/customers/${UNKNOWN_ID}`, { method: 'PATCH', key: api.keys.live }),
      405,
      'METHOD_NOT_ALLOWED',
    );
    const options = await call(`${api.url}/webhook-endpoints/${UNKNOWN_ID}`, { method: 'OPTIONS' });
    expect(options.status).to.equal(200);
    expect(options.headers.get('allow')).to.equal('DELETE, GET, HEAD, OPTIONS, PUT');
  });

  it('answers HEAD like GET, without the body', async () => {
    const answer = await call(`${api.url}/customers`, { method: 'HEAD', key: api.keys.live });
    expect([answer.status, answer.text]).to.deep.equal([200, '']);
    expect((await call(`${api.url}/customers`, { method: 'HEAD' })).status).to.equal(401);
  });

  describe('401', () => {
    const path = '/customers';
    const bad: Record<string, () => Record<string, string>> = {
      'no key': () => ({}),
      'an empty key': () => ({ 'x-api-key': '' }),
      'a word': () => ({ 'x-api-key': 'secret' }),
      'a key of the right form that nobody has': () => ({ 'x-api-key': `sk_live_${'a'.repeat(49)}` }),
      'a mistyped key': () => ({
        'x-api-key': `${api.keys.live.slice(0, -1)}${api.keys.live.endsWith('a') ? 'b' : 'a'}`,
      }),
      'the other prefix on a good key': () => ({ 'x-api-key': api.keys.live.replace('live', 'test') }),
      'another scheme': () => ({ Authorization: `Basic ${api.keys.live}` }),
      'a bare key in Authorization': () => ({ Authorization: api.keys.live }),
      'two credentials that differ': () => ({
        Authorization: `Bearer ${api.keys.live}`,
        'x-api-key': api.keys.test,
      }),
      'a whole key of another installation': () => ({ 'x-api-key': generateKey('live') }),
      'a key as the session cookie': () => ({ Cookie: `ch_session=${api.keys.live}` }),
      'a good key beside a session that has ended': () => ({
        Authorization: `Bearer ${api.keys.live}`,
        Cookie: `ch_session=${'s'.repeat(43)}`,
      }),
      'a session that has ended': () => ({ Cookie: `ch_session=${'s'.repeat(43)}` }),
      'a very long key': () => ({ 'x-api-key': `sk_live_${'a'.repeat(8_000)}` }),
    };
    const says: Record<string, RegExp> = {
      'an empty key': /not an API key: one begins with sk_live_ or sk_test_/,
      'a word': /not an API key/,
      'a key of the right form that nobody has': /mistyped or cut off: its checksum is wrong/,
      'a mistyped key': /mistyped or cut off: its checksum is wrong/,
      'the other prefix on a good key': /mistyped or cut off/,
      'a whole key of another installation': /revoked or has expired, or it belongs to another installation/,
      'two credentials that differ': /two API keys that differ: send one/,
      'a good key beside a session that has ended': /session that has ended: send the key without the cookie/,
      'a session that has ended': /^The session has ended\. Sign in again\.$/,
      'a very long key': /mistyped or cut off/,
      'a key as the session cookie': /cookie ch_session holds an API key.*Authorization: Bearer KEY/,
    };
    for (const [name, headers] of Object.entries(bad)) {
      it(`for ${name}`, async () => {
        const answer = await call(api.url + path, { headers: headers() });
        expectError(answer, 401, 'UNAUTHORIZED');
        expect(answer.body['error']).to.match(says[name] ?? /\S/);
        expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
      });
    }

    it('for a key in the query string, even beside a good header', async () => {
      for (const query of [`api_key=${api.keys.live}`, `x=${api.keys.test.replace('sk_', 'sk%5F')}`]) {
        expectError(await call(`${api.url}${path}?${query}`, { key: api.keys.live }), 401, 'UNAUTHORIZED');
      }
    });

    it('for two Authorization headers that differ, of which a server would keep only the first', async () => {
      const lines = [
        `GET /api/v1/customers HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${api.keys.live}`,
        `Authorization: Bearer ${api.keys.test}`,
      ];
      const { received } = await talk(api.origin, `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`, {
        end: true,
      });
      expect(received.toString()).to.match(/^HTTP\/1\.1 401 /);
    });

    it('for a revoked key from the next request on, and for one whose grace is over', async () => {
      const made = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'live' });
      const kept = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'live' });
      for (const { key } of [made, kept]) expect((await call(api.url + path, { key })).status).to.equal(200);
      await revokeKey(api.deps, { keyId: made.id });
      expectError(await call(api.url + path, { key: made.key }), 401, 'UNAUTHORIZED');
      const next = await rotateKey(api.deps, { keyId: kept.id, graceMs: 60_000 });
      expect((await call(api.url + path, { key: kept.key })).status).to.equal(200);
      await api.deps.orm.em
        .fork()
        .execute(`update api_keys set expires_at = expires_at - interval '61 seconds' where id = ?`, [
          kept.id,
        ]);
      expectError(await call(api.url + path, { key: kept.key }), 401, 'UNAUTHORIZED');
      expect((await call(api.url + path, { key: next.key })).status).to.equal(200);
    });
  });

  it('takes a key in either header, in both when they agree, and any case of the scheme', async () => {
    const key = api.keys.live;
    const ways: Record<string, string>[] = [
      { 'x-api-key': key },
      { Authorization: `bearer ${key}` },
      { Authorization: `Bearer ${key}`, 'x-api-key': key },
    ];
    for (const headers of ways) {
      expect((await call(`${api.url}/customers`, { headers })).status).to.equal(200);
    }
  });

  it('ignores X-Mode beside a key', async () => {
    const answer = await call(`${api.url}/customers`, {
      key: api.keys.live,
      body: { external_id: 'mode' },
      headers: { 'X-Mode': 'test' },
    });
    expect(answer.body['is_live']).to.equal(true);
  });

  it('answers 403 without an active subscription, in both modes, and opens again with one', async () => {
    const { id, keys } = await api.newMerchant();
    const past = new Date(Date.now() - 1_000);
    for (const state of [{ active: false }, { active: true, until: past }]) {
      await setSubscription(api.deps, { merchantId: id, ...state });
      for (const key of Object.values(keys))
        expectError(await call(`${api.url}/customers/exists`, { key }), 403, 'SUBSCRIPTION_REQUIRED');
    }
    await setSubscription(api.deps, { merchantId: id, active: true, until: new Date(Date.now() + 60_000) });
    expect((await call(`${api.url}/customers`, { key: keys.live })).status).to.equal(200);
  });

  it('refuses a live key in test mode before it looks at anything else of the request', async () => {
    const path = `${api.url}/test/simulate-deposit`;
    for (const body of ['{', '[]', 'x'.repeat(2_000_000)]) {
      expectError(await call(path, { key: api.keys.live, method: 'POST', body }), 403, 'TEST_MODE_ONLY');
    }
  });

  it('checks in order: key, body size, media type, JSON, fields, id, conflict', async () => {
    const post = (
      body: unknown,
      headers: Record<string, string> = {},
      key: string | undefined = api.keys.test,
    ) => call(`${api.url}/customers`, { method: 'POST', body, headers, ...(key === '' ? {} : { key }) });
    const json = { 'Content-Type': 'application/json' };
    await post({ external_id: 'taken' });
    expectError(await post('x'.repeat(2_000_000), {}, ''), 401, 'UNAUTHORIZED');
    expectError(
      await post('x'.repeat(1024 * 1024 + 1), { 'Content-Type': 'text/plain' }),
      413,
      'PAYLOAD_TOO_LARGE',
    );
    expectError(await post('{', { 'Content-Type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    expectError(await post('{', json), 400, 'INVALID_JSON');
    expectError(await post({ external_id: 'taken', email: 'x' }), 400, 'VALIDATION_ERROR');
    expectError(await post({ external_id: 'taken' }), 409, 'CUSTOMER_EXISTS');
    const put = (id: string, body: unknown) =>
      call(`${api.url}/webhook-endpoints/${id}`, { method: 'PUT', key: api.keys.test, body });
    expectError(await put('no-id', { enabled: 'yes' }), 400, 'VALIDATION_ERROR');
    expectError(await put('no-id', { enabled: true }), 404, 'NOT_FOUND');
    expectError(await put(UNKNOWN_ID, { url: 'ftp://x' }), 400, 'VALIDATION_ERROR');
    expectError(await put(UNKNOWN_ID, { enabled: true }), 404, 'NOT_FOUND');
  });

  it('takes a malformed id for one that does not exist', async () => {
    for (const id of [
      '1',
      'null',
      '%00',
      '%ff',
      "1'or'1",
      UNKNOWN_ID,
      UNKNOWN_ID.slice(1),
      'x'.repeat(5_000),
    ]) {
      for (const resource of ['customers', 'deposits', 'webhook-endpoints', 'events']) {
        expectError(await call(`${api.url}/${resource}/${id}`, { key: api.keys.test }), 404, 'NOT_FOUND');
      }
    }
  });

  it('answers 500 without a word of what happened, and logs it with the request id', async () => {
    for (const path of ['/failing', '/lying']) {
      const answer = await call(api.url + path);
      expectError(answer, 500, 'INTERNAL');
      expect(answer.text).not.to.contain('leak');
      const line = api.lines.find(
        ({ level, fields }) =>
          level === 'error' && fields['requestId'] === answer.headers.get('x-request-id'),
      );
      expect(line?.fields['err']).to.be.an('error');
    }
  });

  it("keeps a caller's request id only if it is a short token", async () => {
    const idFor = async (given: string) =>
      (await call(`${api.url}/customers`, { headers: { 'X-Request-Id': given } })).headers.get(
        'x-request-id',
      );
    expect(await idFor('order-1.2_3')).to.equal('order-1.2_3');
    for (const given of ['with space', 'x'.repeat(65), '<script>', 'a,b'])
      expect(await idFor(given)).not.to.equal(given);
  });

  it('writes one line for each request, without its key', async () => {
    const before = api.lines.length;
    const answer = await call(`${api.url}/customers?email=a@b.co`, { key: api.keys.live });
    const [line, ...others] = api.lines.slice(before).filter(({ text }) => text === 'request');
    expect(others).to.deep.equal([]);
    expect(line?.fields).to.include({
      method: 'GET',
      route: '/api/v1/customers',
      status: 200,
      requestId: answer.headers.get('x-request-id'),
    });
    expect(line?.fields['durationMs']).to.be.a('number');
    expect(JSON.stringify(api.lines)).not.to.match(/sk_(live|test)_[0-9A-Za-z]{20}/);
  });
});
