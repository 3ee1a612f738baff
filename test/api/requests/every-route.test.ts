import { expect } from 'chai';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { apiOf, call, type TestMerchant, UNKNOWN_ID } from '../../support/gateway.ts';
import { newUser, signIn } from '../../support/sign-in.ts';
import { expectError } from './expect-error.ts';

const KEPT = ROUTES.filter(({ auth }) => auth === 'merchant');
const MALFORMED = ['x', 'null', '%00', '%ff', "1'or'1", UNKNOWN_ID.slice(1), 'x'.repeat(5_000)];

/** What the contract refuses is decided in one place, and holds for each route that there is. */
describe('every route', function () {
  this.timeout(30_000);
  const api = apiOf();
  let lapsed: TestMerchant;
  let cookie: string;
  before(async () => {
    lapsed = await api.newMerchant();
    await setSubscription(api.deps, { merchantId: lapsed.id, active: false });
    cookie = await signIn(api, await newUser(api));
  });

  type Refused = readonly [what: string, status: number, code: string];
  const expectOfAll = async (
    routes: typeof KEPT,
    [what, status, code]: Refused,
    input: (route: (typeof KEPT)[number]) => Parameters<typeof call>[1] & { id?: string },
  ) => {
    expect(routes.length, what).to.be.greaterThan(0);
    for (const route of routes) {
      const { id = UNKNOWN_ID, ...request } = input(route) ?? {};
      const path = route.path.replace(/:[a-z_]+/g, id);
      const answer = await call(api.url + path, { method: route.method.toUpperCase(), ...request });
      expectError(answer, status, code, `${what}: ${route.method} ${path}`);
    }
  };
  /** A key, or a session where only people may call. */
  const own = ({ only }: (typeof KEPT)[number]) =>
    only === 'session' ? { headers: { Cookie: cookie, 'X-Mode': 'test' } } : { key: api.keys.test };
  const json = { 'Content-Type': 'application/json' };
  const withBody = KEPT.filter(({ body }) => body);
  const withId = KEPT.filter(({ path }) => path.includes(':'));

  it('asks who calls, and whether they may', async () => {
    await expectOfAll(KEPT, ['no key', 401, 'UNAUTHORIZED'], () => ({}));
    await expectOfAll(KEPT, ['a key of nobody', 401, 'UNAUTHORIZED'], () => ({ key: 'sk_test_none' }));
    for (const key of Object.values(lapsed.keys)) {
      const open = KEPT.filter(({ only, path }) => only !== 'session' && !path.startsWith('/test/'));
      await expectOfAll(open, ['no subscription', 403, 'SUBSCRIPTION_REQUIRED'], () => ({ key }));
    }
    const forPeople = KEPT.filter(({ only }) => only === 'session');
    for (const key of Object.values(api.keys))
      await expectOfAll(forPeople, ['a key', 403, 'SESSION_REQUIRED'], () => ({ key }));
    const forTests = KEPT.filter(({ path }) => path.startsWith('/test/'));
    await expectOfAll(forTests, ['real money', 403, 'TEST_MODE_ONLY'], () => ({ key: api.keys.live }));
  });

  it('that takes a body takes UTF-8 JSON of at most 1 MiB, an object of its fields', async () => {
    const raw = (body: string | Uint8Array, headers: Record<string, string> = json) => ({
      key: api.keys.test,
      body: body as string,
      headers,
    });
    const large = 'x'.repeat(1024 * 1024 + 1);
    await expectOfAll(withBody, ['too large', 413, 'PAYLOAD_TOO_LARGE'], () => raw(large));
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    await expectOfAll(withBody, ['a form', 415, 'UNSUPPORTED_MEDIA_TYPE'], () => raw('a=b', form));
    await expectOfAll(withBody, ['broken JSON', 400, 'INVALID_JSON'], () => raw('{'));
    await expectOfAll(withBody, ['a list', 400, 'VALIDATION_ERROR'], () => raw('[]'));
    await expectOfAll(withBody, ['a NUL', 400, 'VALIDATION_ERROR'], () => raw('{"a":"\\u0000"}'));
  });

  it('takes an id that nobody has, or that is none, for one that does not exist', async () => {
    const good: Record<string, object> = {
      '/webhook-endpoints/:id': { enabled: true },
      '/webhook-endpoints/:id/resend-failed': { since: '2026-11-20T09:30:00Z' },
    };
    for (const id of [UNKNOWN_ID, ...MALFORMED])
      await expectOfAll(withId, ['an unknown id', 404, 'NOT_FOUND'], (route) => {
        const body = route.body && good[route.path];
        return { ...own(route), id, ...(body ? { body } : {}) };
      });
  });
});
