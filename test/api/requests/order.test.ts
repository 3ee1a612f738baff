import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { allowNetwork } from '../../../src/services/access/allowlist.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { call, startTestApi, type TestApi, type TestMerchant, UNKNOWN_ID } from '../../support/gateway.ts';
import { newUser, signIn } from '../../support/sign-in.ts';

const ENDPOINT = `/webhook-endpoints/${UNKNOWN_ID}`;
const LARGE = 'x'.repeat(1024 * 1024 + 1);
const JSON_TYPE = { 'Content-Type': 'application/json' };
const TEXT_TYPE = { 'Content-Type': 'text/plain' };

/** Who asks: merchants that may not, each in one way more than the next, and one that has no request left. */
type By = 'nobody' | 'elsewhere' | 'lapsed' | 'good' | 'exhausted' | 'exhausted, from a stranger’s page';
type Row = readonly [
  answer: string,
  by: By,
  request: string,
  body?: string,
  headers?: Readonly<Record<string, string>>,
];

/** In the order of the contract: each request has the fault that is answered, and the next one or more. */
const ROWS: readonly Row[] = [
  ['404 NOT_FOUND', 'nobody', 'PATCH /none', LARGE],
  ['405 METHOD_NOT_ALLOWED', 'nobody', 'PATCH /customers', LARGE],
  ['401 UNAUTHORIZED', 'nobody', 'POST /test/simulate-deposit', LARGE],
  ['403 TEST_MODE_ONLY', 'elsewhere', 'POST /test/simulate-deposit', LARGE],
  ['403 IP_NOT_ALLOWED', 'elsewhere', 'GET /payments'],
  ['403 SUBSCRIPTION_REQUIRED', 'lapsed', 'GET /payments'],
  ['403 SESSION_REQUIRED', 'exhausted', 'GET /payments'],
  ['403 CSRF', 'exhausted, from a stranger’s page', 'POST /customers', LARGE],
  ['429 RATE_LIMITED', 'exhausted', 'POST /customers', LARGE],
  ['413 PAYLOAD_TOO_LARGE', 'good', 'POST /customers', LARGE, TEXT_TYPE],
  ['415 UNSUPPORTED_MEDIA_TYPE', 'good', 'POST /customers', '{', TEXT_TYPE],
  ['400 INVALID_JSON', 'good', `PUT ${ENDPOINT}`, '{'],
  ['400 VALIDATION_ERROR', 'good', `PUT ${ENDPOINT}`, '{"enabled":"yes"}'],
  ['400 VALIDATION_ERROR', 'good', 'POST /customers', '{"external_id":"taken","email":"x"}'],
  ['404 NOT_FOUND', 'good', `PUT ${ENDPOINT}`, '{}'],
  ['409 CUSTOMER_EXISTS', 'good', 'POST /customers', '{"external_id":"taken"}'],
];

describe('of several faults in one request', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let api: TestApi;
  /** The same with a small limit. */
  let strict: TestApi;
  const callers = {} as Record<By, Readonly<Record<string, string>>>;
  before(async () => {
    database = await migratedDatabase();
    api = await startTestApi({ databaseUrl: database.url });
    const limits = { requestsPerSecond: 0.0001, requestsBurst: 1 };
    strict = await startTestApi({ databaseUrl: database.url, limits });
    const bearer = ({ keys }: TestMerchant) => ({ Authorization: `Bearer ${keys.live}` });
    const merchant = async (isElsewhere: boolean, isLapsed: boolean): Promise<TestMerchant> => {
      const made = await api.newMerchant();
      if (isElsewhere) await allowNetwork(api.deps, { merchantId: made.id, network: '192.0.2.0/24' });
      if (isLapsed) await setSubscription(api.deps, { merchantId: made.id, active: false });
      return made;
    };
    const [good, exhausted] = [await merchant(false, false), await merchant(false, false)];
    const session = { Cookie: await signIn(api, await newUser(api, exhausted.id)) };
    callers.nobody = {};
    callers.elsewhere = bearer(await merchant(true, true));
    callers.lapsed = bearer(await merchant(false, true));
    callers.good = bearer(good);
    callers.exhausted = bearer(exhausted);
    callers['exhausted, from a stranger’s page'] = { ...session, 'Sec-Fetch-Site': 'cross-site' };
    await call(`${api.url}/customers`, { headers: callers.good, body: { external_id: 'taken' } });
    for (const headers of [callers.exhausted, session])
      for (let turn = 0; turn < 10; turn += 1) await call(`${strict.url}/customers`, { headers });
  });
  after(async () => {
    await strict.stop();
    await api.stop();
    await database.drop();
  });

  it('the first by the order of the contract is answered', async () => {
    for (const [answer, by, request, body, type = JSON_TYPE] of ROWS) {
      const [method = '', path = ''] = request.split(' ');
      const headers = { ...callers[by], ...(body === undefined ? {} : type) };
      const at = by.startsWith('exhausted') ? strict : api;
      const input = { method, headers, ...(body === undefined ? {} : { body }) };
      const told = await call(at.url + path, input);
      expect(`${told.status} ${told.body['code']}`, `${by}: ${request} ${told.text}`).to.equal(answer);
    }
  });
});
