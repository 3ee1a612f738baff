import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { scopesOf } from '../../../src/api/requests/admission.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { KEY_SCOPES, type KeyScope, ROUTE_SCOPES } from '../../../src/domain/key-scope.ts';
import { allowNetwork } from '../../../src/services/access/allowlist.ts';
import { createKey, listKeys, rotateKey } from '../../../src/services/merchants/keys.ts';
import { apiOf, call, UNKNOWN_ID } from '../../support/gateway.ts';

const KEYED = ROUTES.filter(({ auth, only }) => auth === 'merchant' && only !== 'session');

describe('the scopes of a key', function () {
  this.timeout(60_000);
  const api = apiOf({ trustedProxies: ['127.0.0.1'] });

  const make = async (...scopes: KeyScope[]) =>
    (await createKey(api.deps, { merchantId: api.merchant.id, mode: 'test', scopes })).key;
  const ask = async (route: (typeof KEYED)[number], key: string) => {
    const path = route.path.replace(/:[a-z_]+/g, UNKNOWN_ID);
    const body = route.method === 'get' || route.method === 'delete' ? undefined : {};
    return await call(`${api.url}${path}`, { method: route.method.toUpperCase(), key, body });
  };

  it('open the routes that ask for them and no other, and the sentence names what is missing', async () => {
    expect(new Set(KEYED.map(({ scope }) => scope))).to.deep.equal(new Set(ROUTE_SCOPES));
    for (const scope of KEY_SCOPES) {
      const key = await make(scope);
      for (const route of KEYED) {
        const name = `${scope} at ${route.method} ${route.path}`;
        const { status, body } = await ask(route, key);
        if (scope === 'all' || scopesOf(route).every((needed) => needed === scope))
          expect(status, name).to.not.equal(403);
        else expect([status, body['code']], name).to.deep.equal([403, 'SCOPE_REQUIRED']);
        const [lacked] = scopesOf(route).filter((needed) => needed !== scope);
        if (status === 403) expect(body['error'], name).to.contain(`"${lacked}"`);
      }
    }
  });

  it('are all needed where an answer opens more: a key that makes links is not told the page of a customer', async () => {
    const path = '/customers/:id/address-page';
    const route = KEYED.find((one) => one.path === path && one.method === 'post');
    if (!route) throw new Error(`no ${path}`);
    expect(scopesOf(route)).to.deep.equal(['payments', 'read']);
    expect((await ask(route, await make('payments'))).body['code']).to.equal('SCOPE_REQUIRED');
    expect((await ask(route, await make('payments', 'read'))).status).to.equal(404);
  });

  it('are everything where none is named, go over to the key that replaces it with its end, and are no others', async () => {
    const viewOf = async (id: string) => {
      const keys = await listKeys(api.deps, { merchantId: api.merchant.id });
      const view = keys.find((one) => one.id === id);
      return [view?.scopes, view?.expiresAt?.getTime()];
    };
    const owner = { merchantId: api.merchant.id, mode: 'test' } as const;
    const expiresAt = new Date(Date.now() + 3_600_000);
    const old = await createKey(api.deps, { ...owner, scopes: ['read'], expiresAt });
    const next = await rotateKey(api.deps, { keyId: old.id, graceMs: 60_000 });
    expect(await viewOf(next.id)).to.deep.equal([['read'], expiresAt.getTime()]);
    const made = await createKey(api.deps, owner);
    expect(await viewOf(made.id)).to.deep.equal([['all'], undefined]);
    for (const scopes of ["'{}'", "'{root}'"]) {
      const change = `update api_keys set scopes = ${scopes} where id = ?`;
      const error = await api.deps.orm.em.fork().execute(change, [made.id]).catch(String);
      expect(error, scopes).to.contain('api_keys_scopes_check');
    }
  });
});

describe('the use of a key', function () {
  this.timeout(60_000);
  const api = apiOf({ trustedProxies: ['127.0.0.1'], deps: { now: () => new Date(clockMs) } });
  let clockMs = Date.parse('2026-11-20T09:00:00Z');

  const viewOf = async (id: string) =>
    (await listKeys(api.deps, { merchantId: api.merchant.id })).find((view) => view.id === id);
  const use = (key: string, from: string) =>
    call(`${api.url}/customers/exists?email=a`, { key, headers: { 'X-Forwarded-For': from } });

  it('is noted with its network, at most once a minute, also where the address is refused', async () => {
    const { id, key } = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'live' });
    expect((await viewOf(id))?.lastUsedAt).to.equal(null);
    const first = clockMs;
    await use(key, '2001:db8:1:2::7');
    await eventually('the first use', async () => (await viewOf(id))?.lastUsedFrom === '2001:db8:1:2::/64');
    clockMs += 59_999;
    await use(key, '203.0.113.9');
    // A later note of another key is written after every earlier one.
    const other = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'live' });
    await use(other.key, '203.0.113.10');
    await eventually('the use of the other', async () => (await viewOf(other.id))?.lastUsedAt !== null);
    expect((await viewOf(id))?.lastUsedAt?.getTime()).to.equal(first);
    clockMs += 1;
    await allowNetwork(api.deps, { merchantId: api.merchant.id, network: '198.51.100.0/24' });
    expect((await use(key, '203.0.113.9')).body['code']).to.equal('IP_NOT_ALLOWED');
    await eventually('the refused use', async () => (await viewOf(id))?.lastUsedFrom === '203.0.113.9');
    expect((await viewOf(id))?.lastUsedAt?.getTime()).to.equal(clockMs);
  });
});
