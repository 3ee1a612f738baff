import { expect } from 'chai';
import { z } from 'zod';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { generateKey } from '../../../src/services/merchants/key-text.ts';
import { createKey, revokeKey, rotateKey } from '../../../src/services/merchants/keys.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { apiOf, call } from '../../support/gateway.ts';
import { expectError } from './expect-error.ts';
import { openRoute } from './open-route.ts';

const TEST_ROUTES = [
  openRoute('/lying', async () => ({ a: 'x', secret: 'leak' }), {
    response: z.strictObject({ a: z.string() }),
  }),
  openRoute('/failing', async () => {
    throw new Error('select * from secrets at /home/gateway/app.ts');
  }),
];

describe('the error table of the API', () => {
  const api = apiOf({ routes: [...ROUTES, ...TEST_ROUTES] });

  describe('401', () => {
    const path = '/customers';
    const other = (prefix: string) => ({ 'x-api-key': `${prefix}${'a'.repeat(49)}` });
    const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
    const ended = { Cookie: `ch_session=${'s'.repeat(43)}` };
    const table: Record<string, [() => Record<string, string>, RegExp]> = {
      'no key': [() => ({}), /\S/],
      'a word': [() => ({ 'x-api-key': 'secret' }), /not an API key/],
      'a key of the right form that nobody has': [
        () => other('sk_live_'),
        /mistyped or cut off: its checksum/,
      ],
      'the other prefix on a good key': [
        () => ({ 'x-api-key': api.keys.live.replace('live', 'test') }),
        /mistyped or cut off/,
      ],
      'two credentials that differ': [
        () => ({ ...bearer(api.keys.live), 'x-api-key': api.keys.test }),
        /two API keys that differ: send one/,
      ],
      'a whole key of another installation': [
        () => ({ 'x-api-key': generateKey('live') }),
        /revoked or has expired, or it belongs to another installation/,
      ],
      'a good key beside a session that has ended': [
        () => ({ ...bearer(api.keys.live), ...ended }),
        /session that has ended: send the key without the cookie/,
      ],
      'a session that has ended': [() => ended, /^The session has ended\. Sign in again\.$/],
    };

    it('for what is no key or session, with a sentence that helps', async () => {
      for (const [name, [headers, says]] of Object.entries(table)) {
        const answer = await call(api.url + path, { headers: headers() });
        expectError(answer, 401, 'UNAUTHORIZED', name);
        expect(answer.body['error'], name).to.match(says);
        expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
      }
    });

    it('for a key in the query string, even beside a good header', async () => {
      for (const query of [`api_key=${api.keys.live}`, `x=${api.keys.test.replace('sk_', 'sk%5F')}`])
        expectError(await call(`${api.url}${path}?${query}`, { key: api.keys.live }), 401, 'UNAUTHORIZED');
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
});
