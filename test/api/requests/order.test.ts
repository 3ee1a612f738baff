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

type Fault = {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  readonly onto: (plan: Plan) => Plan | undefined;
};

const atStart = (plan: Plan, change: Partial<Plan>) =>
  plan.path === GOOD.path && plan.method === GOOD.method ? { ...plan, ...change } : undefined;
const withKey = (plan: Plan, change: Partial<Plan>) =>
  plan.credential === 'test' || plan.credential === 'live' ? { ...plan, ...change } : undefined;
const withBody = (plan: Plan, change: Partial<Plan>) =>
  plan.body === 'none' ? undefined : { ...plan, ...change };

/**
 * In the order of the contract. Each makes its fault in a
 * request, or says that it does not go with what is there.
 */
const FAULTS: readonly Fault[] = [
  {
    name: 'an unknown route',
    status: 404,
    code: 'NOT_FOUND',
    onto: (plan) => atStart(plan, { path: '/none' }),
  },
  {
    name: 'a wrong method',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    onto: (plan) => (plan.path === '/none' ? undefined : { ...plan, method: 'PATCH' }),
  },
  {
    name: 'no credentials',
    status: 401,
    code: 'UNAUTHORIZED',
    onto: (plan) => ({ ...plan, credential: 'none' }),
  },
  {
    name: 'a live key for what is test mode only',
    status: 403,
    code: 'TEST_MODE_ONLY',
    onto: (plan) => {
      const changed = atStart(plan, { path: '/test/simulate-deposit' });
      return changed && withKey(changed, { credential: 'live', path: changed.path });
    },
  },
  {
    name: 'an address that is not allowed',
    status: 403,
    code: 'IP_NOT_ALLOWED',
    onto: (plan) => withKey(plan, { credential: 'live', elsewhere: true }),
  },
  {
    name: 'no subscription',
    status: 403,
    code: 'SUBSCRIPTION_REQUIRED',
    onto: (plan) => ({ ...plan, lapsed: true }),
  },
  {
    name: 'a key where a session is needed',
    status: 403,
    code: 'SESSION_REQUIRED',
    onto: (plan) => {
      const changed = atStart(plan, { method: 'GET', path: '/payments', body: 'none' });
      return changed && withKey(changed, {});
    },
  },
  {
    name: 'a page of a stranger',
    status: 403,
    code: 'CSRF',
    onto: (plan) =>
      plan.credential === 'test' && plan.method !== 'GET' && !plan.elsewhere
        ? { ...plan, credential: 'session', headers: { ...plan.headers, 'Sec-Fetch-Site': 'cross-site' } }
        : undefined,
  },
  {
    name: 'too many requests',
    status: 429,
    code: 'RATE_LIMITED',
    onto: (plan) => ({ ...plan, exhausted: true }),
  },
  {
    name: 'a body that is too large',
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    onto: (plan) => withBody(plan, { body: 'large' }),
  },
  {
    name: 'no JSON type',
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    onto: (plan) => withBody(plan, { type: 'text/plain' }),
  },
  {
    name: 'broken JSON',
    status: 400,
    code: 'INVALID_JSON',
    onto: (plan) => (plan.body === 'large' ? plan : withBody(plan, { body: 'broken' })),
  },
  {
    name: 'a wrong field',
    status: 400,
    code: 'VALIDATION_ERROR',
    onto: (plan) =>
      plan.body === 'large' || plan.body === 'broken' ? plan : withBody(plan, { body: 'bad' }),
  },
  {
    name: 'an unknown id',
    status: 404,
    code: 'NOT_FOUND',
    onto: (plan) =>
      plan.path === GOOD.path && plan.body !== 'none'
        ? {
            ...plan,
            method: plan.method === 'POST' ? 'PUT' : plan.method,
            path: `/webhook-endpoints/${UNKNOWN_ID}`,
          }
        : undefined,
  },
  {
    name: 'a conflict',
    status: 409,
    code: 'CUSTOMER_EXISTS',
    onto: (plan) =>
      plan.path !== GOOD.path ? undefined : plan.body === 'good' ? { ...plan, body: 'taken' } : plan,
  },
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

  for (const [index, fault] of FAULTS.entries()) {
    it(`${fault.name} is answered with ${fault.status}, alone and beside every later one`, async () => {
      const alone = fault.onto(GOOD);
      if (!alone) throw new Error('a fault must go with a good request');
      const plans = [{ name: 'alone', plan: alone }];
      for (const later of FAULTS.slice(index + 1)) {
        // The order in which they are put into the request is not the order in which they are found.
        const plan = later.onto(alone) ?? (later.onto(GOOD) && fault.onto(later.onto(GOOD) as Plan));
        if (plan) plans.push({ name: later.name, plan });
      }
      for (const { name, plan } of plans) {
        const answer = await send(plan);
        expect(
          [answer.status, answer.body['code']],
          `beside ${name}: ${JSON.stringify(plan)} → ${answer.text}`,
        ).to.deep.equal([fault.status, fault.code]);
      }
      expect(plans.length, 'pairs').to.be.at.least(Math.min(3, FAULTS.length - index));
    });
  }
});
