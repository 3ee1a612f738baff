import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { allowNetwork } from '../../../src/services/access/allowlist.ts';
import { addSession } from '../../../src/services/access/sessions.ts';
import { createUser } from '../../../src/services/access/users.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';

const BURST = 4;

/** A request under construction: what faults make of `POST /customers` with a good key. */
type Plan = {
  readonly method: string;
  readonly path: string;
  readonly credential: 'live' | 'test' | 'session' | 'none';
  /** States of the merchant. */
  readonly elsewhere: boolean;
  readonly lapsed: boolean;
  readonly exhausted: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: 'good' | 'taken' | 'bad' | 'broken' | 'large' | 'none';
  readonly type: string;
};

const GOOD: Plan = {
  method: 'POST',
  path: '/customers',
  credential: 'test',
  elsewhere: false,
  lapsed: false,
  exhausted: false,
  headers: {},
  body: 'good',
  type: 'application/json',
};

/** Makes a fault in a request, or says that it does not go with what is there. */
type Onto = (plan: Plan) => Plan | undefined;

const atStart = (plan: Plan, change: Partial<Plan>) =>
  plan.path === GOOD.path && plan.method === GOOD.method ? { ...plan, ...change } : undefined;
const withKey = (plan: Plan | undefined, change: Partial<Plan>) =>
  plan?.credential === 'test' || plan?.credential === 'live' ? { ...plan, ...change } : undefined;
const withBody = (plan: Plan, change: Partial<Plan>) =>
  plan.body === 'none' ? undefined : { ...plan, ...change };
const byStranger: Onto = (plan) =>
  plan.credential === 'test' && plan.method !== 'GET' && !plan.elsewhere
    ? { ...plan, credential: 'session', headers: { ...plan.headers, 'Sec-Fetch-Site': 'cross-site' } }
    : undefined;
const ofNobody: Onto = (plan) =>
  plan.path === GOOD.path && plan.body !== 'none'
    ? {
        ...plan,
        method: plan.method === 'POST' ? 'PUT' : plan.method,
        path: `/webhook-endpoints/${UNKNOWN_ID}`,
      }
    : undefined;
const conflicting: Onto = (plan) => {
  if (plan.path !== GOOD.path) return undefined;
  return plan.body === 'good' ? { ...plan, body: 'taken' } : plan;
};
const unless = (bodies: readonly Plan['body'][], body: Plan['body']): Onto => {
  return (plan) => (bodies.includes(plan.body) ? plan : withBody(plan, { body }));
};
const SIMULATE = { path: '/test/simulate-deposit' };
const PAYMENTS = { method: 'GET', path: '/payments', body: 'none' } as const;

/** In the order of the contract. */
const FAULTS: readonly (readonly [name: string, status: number, code: string, onto: Onto])[] = [
  ['an unknown route', 404, 'NOT_FOUND', (plan) => atStart(plan, { path: '/none' })],
  [
    'a wrong method',
    405,
    'METHOD_NOT_ALLOWED',
    (plan) => (plan.path === '/none' ? undefined : { ...plan, method: 'PATCH' }),
  ],
  ['no credentials', 401, 'UNAUTHORIZED', (plan) => ({ ...plan, credential: 'none' })],
  [
    'a live key for what is test mode only',
    403,
    'TEST_MODE_ONLY',
    (plan) => withKey(atStart(plan, SIMULATE), { credential: 'live' }),
  ],
  [
    'an address that is not allowed',
    403,
    'IP_NOT_ALLOWED',
    (plan) => withKey(plan, { credential: 'live', elsewhere: true }),
  ],
  ['no subscription', 403, 'SUBSCRIPTION_REQUIRED', (plan) => ({ ...plan, lapsed: true })],
  [
    'a key where a session is needed',
    403,
    'SESSION_REQUIRED',
    (plan) => withKey(atStart(plan, PAYMENTS), {}),
  ],
  ['a page of a stranger', 403, 'CSRF', byStranger],
  ['too many requests', 429, 'RATE_LIMITED', (plan) => ({ ...plan, exhausted: true })],
  ['a body that is too large', 413, 'PAYLOAD_TOO_LARGE', (plan) => withBody(plan, { body: 'large' })],
  ['no JSON type', 415, 'UNSUPPORTED_MEDIA_TYPE', (plan) => withBody(plan, { type: 'text/plain' })],
  ['broken JSON', 400, 'INVALID_JSON', unless(['large'], 'broken')],
  ['a wrong field', 400, 'VALIDATION_ERROR', unless(['large', 'broken'], 'bad')],
  ['an unknown id', 404, 'NOT_FOUND', ofNobody],
  ['a conflict', 409, 'CUSTOMER_EXISTS', conflicting],
];

const BODIES = {
  good: '{"external_id":"new"}',
  taken: '{"external_id":"taken"}',
  // Wrong for a customer and for an endpoint.
  bad: '{"external_id":"taken","email":"x","enabled":"yes"}',
  broken: '{',
  large: 'x'.repeat(1024 * 1024 + 1),
} as const;

describe('of two faults in one request', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let api: TestApi;
  /** The same with a small limit. */
  let strict: TestApi;
  const merchants = new Map<string, { keys: Readonly<Record<'live' | 'test', string>>; token: string }>();
  before(async () => {
    database = await migratedDatabase();
    api = await startTestApi({ databaseUrl: database.url });
    strict = await startTestApi({
      databaseUrl: database.url,
      limits: { requestsPerSecond: 0.0001, requestsBurst: BURST },
    });
    for (const [elsewhere = false, lapsed = false] of [0, 1, 2, 3].map((bits) =>
      [bits & 1, bits & 2].map(Boolean),
    )) {
      merchants.set(JSON.stringify([elsewhere, lapsed]), await makeMerchant({ elsewhere, lapsed }));
    }
  });
  after(async () => {
    await strict.stop();
    await api.stop();
    await database.drop();
  });

  const makeMerchant = async (state: Pick<Plan, 'elsewhere' | 'lapsed'>) => {
    const { id, keys } = await api.newMerchant();
    const { userId } = await createUser(api.deps, {
      merchantId: id,
      email: `${id}@example.com`,
      password: 'correct horse battery',
    });
    const token = await api.deps.orm.em
      .fork()
      .transactional((em) => addSession(em, api.deps, { userId, site: '203.0.113.9' }));
    const callers = [{ key: keys.live }, { key: keys.test }, { headers: { Cookie: `ch_session=${token}` } }];
    for (const caller of callers)
      await call(`${api.url}/customers`, { ...caller, body: { external_id: 'taken' } });
    if (state.elsewhere) await allowNetwork(api.deps, { merchantId: id, network: '192.0.2.0/24' });
    if (state.lapsed) await setSubscription(api.deps, { merchantId: id, active: false });
    return { keys, token };
  };

  /**
   * Just before it matters: both servers count in one table,
   * and the other one's large limit is written there too.
   */
  const exhaust = async (caller: { key?: string; headers: Record<string, string> }): Promise<void> => {
    for (let index = 0; index <= BURST * 2; index += 1) {
      const { status } = await call(`${strict.url}/customers`, caller);
      if (status !== 200) return;
    }
    throw new Error('the limit is never reached');
  };

  const send = async (plan: Plan) => {
    const merchant = merchants.get(JSON.stringify([plan.elsewhere, plan.lapsed]));
    if (!merchant) throw new Error('every state has a merchant');
    const { credential } = plan;
    const headers: Record<string, string> = { ...plan.headers };
    if (credential === 'session') headers['Cookie'] = `ch_session=${merchant.token}`;
    if (plan.body !== 'none') headers['Content-Type'] = plan.type;
    const key = credential === 'live' || credential === 'test' ? { key: merchant.keys[credential] } : {};
    if (plan.exhausted)
      await exhaust({ ...key, headers: credential === 'session' ? { Cookie: headers['Cookie'] ?? '' } : {} });
    return await call((plan.exhausted ? strict : api).url + plan.path, {
      method: plan.method,
      headers,
      ...key,
      ...(plan.body === 'none' ? {} : { body: BODIES[plan.body] }),
    });
  };

  for (const [index, [name, status, code, onto]] of FAULTS.entries()) {
    it(`${name} is answered with ${status}, alone and beside every later one`, async () => {
      const alone = onto(GOOD);
      if (!alone) throw new Error('a fault must go with a good request');
      const plans: [string, Plan][] = [['alone', alone]];
      for (const [later, , , lateOnto] of FAULTS.slice(index + 1)) {
        // The order in which they are put into the request is not the order in which they are found.
        const plan = lateOnto(alone) ?? (lateOnto(GOOD) && onto(lateOnto(GOOD) as Plan));
        if (plan) plans.push([later, plan]);
      }
      for (const [beside, plan] of plans) {
        const answer = await send(plan);
        const why = `beside ${beside}: ${JSON.stringify(plan)} → ${answer.text}`;
        expect([answer.status, answer.body['code']], why).to.deep.equal([status, code]);
      }
      expect(plans.length, 'pairs').to.be.at.least(Math.min(3, FAULTS.length - index));
    });
  }
});
