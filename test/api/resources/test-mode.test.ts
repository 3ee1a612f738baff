import { expect } from 'chai';
import { MAX_OPEN_TESTS } from '../../../src/services/merchants/open-tests.ts';
import { type Answer, call, startTestApi, type TestApi, type TestMerchant } from '../../support/gateway.ts';

const DEAD_URL = 'http://127.0.0.1:9/';

describe('work of test mode', function () {
  this.timeout(30_000);
  let api: TestApi;
  let slow: TestApi;
  let merchant: TestMerchant;
  before(async () => {
    [api, slow] = await Promise.all([
      startTestApi(),
      startTestApi({ limits: { requestsPerSecond: 1e5, requestsBurst: 1e5, testsPerSecond: 1 } }),
    ]);
  });
  after(() => Promise.all([api.stop(), slow.stop()]));
  beforeEach(async () => {
    merchant = await api.newMerchant();
  });

  const post = (key: string, path: string, body?: object, at = api): Promise<Answer> =>
    call(`${at.url}${path}`, { key, method: 'POST', ...(body ? { body } : {}) });
  const endpointOf = async (key: string, at = api): Promise<string> => {
    const body = { url: DEAD_URL, events: ['customer.created', 'deposit.completed'] };
    return (await post(key, '/webhook-endpoints', body, at)).body['id'];
  };
  /** As many test webhooks that wait as are wanted, without the requests. */
  const fill = async (endpointId: string, open: number): Promise<void> => {
    await api.deps.orm.em.fork().execute(
      `with e as (
         insert into events (id, merchant_id, mode, type, subject_id, sequence, body, occurred_at, created_at)
         select id_of_event(now(), 'customer.created', w.id, n), w.merchant_id, w.mode, 'customer.created',
           w.id, n, '{}', now(), now()
         from webhook_endpoints w, generate_series(1, ?) n where w.id = ? returning id, merchant_id
       )
       insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, next_attempt_at,
         created_at, test_merchant_id)
       select id_of_delivery(e.id, ?), e.id, ?, 'customer.created', 'pending', 1, now(), now(), e.merchant_id
         from e`,
      [open, endpointId, endpointId, endpointId],
    );
  };

  it('is at most 1,000 webhooks and links that are open, of one merchant', async () => {
    const key = merchant.keys.test;
    const endpoint = await endpointOf(key);
    const customer = await post(key, '/customers', { external_id: 'before' });
    const link = await post(key, '/request-payment', { email: 'a@b.example', amount_usd: 10 });
    expect([customer.status, link.status]).to.deep.equal([201, 201]);
    // Two customers were told of, and one link is open: one place is left.
    await fill(endpoint, MAX_OPEN_TESTS - 4);
    const simulation = { customer_id: customer.body['id'], amount: '1' };
    expect((await post(key, '/test/simulate-deposit', simulation)).status).to.equal(201);
    for (const answer of [
      await post(key, '/customers', { external_id: 'too-many' }),
      await post(key, '/request-payment', { email: 'too@many.example', amount_usd: 10 }),
      await post(key, '/test/simulate-deposit', simulation),
      await post(key, `/webhook-endpoints/${endpoint}/test`),
    ]) {
      const { status, body, headers } = answer;
      expect([status, body['code'], headers.get('retry-after')]).to.deep.equal([429, 'RATE_LIMITED', '10']);
      expect(body['error']).to.match(/^This merchant has 1000 webhooks and payment links open in test mode/);
    }
    const left = await call(`${api.url}/customers?external_id=too-many`, { key });
    expect(left.body['data'], 'nothing is left of a refusal').to.deep.equal([]);
    const makes = async (by: string) => (await post(by, '/customers', { external_id: 'another' })).status;
    expect(await makes(merchant.keys.live), 'live mode').to.equal(201);
    expect(await makes((await api.newMerchant()).keys.test), 'another merchant').to.equal(201);
    const end = `update webhook_deliveries set status = 'failed' where endpoint_id = ?`;
    await api.deps.orm.em.fork().execute(end, [endpoint]);
    expect(await makes(key), 'after their end').to.equal(201);
  });

  it('is asked for at a bounded rate: by merchant, and by endpoint', async () => {
    const { keys } = await slow.newMerchant();
    const [one, two] = [await endpointOf(keys.test, slow), await endpointOf(keys.test, slow)];
    const ask = async (path: string, times: number, body?: object): Promise<number[]> => {
      const statuses: number[] = [];
      for (let left = times; left > 0; left -= 1)
        statuses.push((await post(keys.test, path, body, slow)).status);
      return statuses;
    };
    // Two for each endpoint at once, and ten for the merchant, at a rate that gives nothing back meanwhile.
    const ofOne = await ask(`/webhook-endpoints/${one}/test`, 6);
    expect(ofOne).to.deep.equal([201, 201, 429, 429, 429, 429]);
    const customer = await post(keys.test, '/customers', { external_id: 'c' }, slow);
    const body = { customer_id: customer.body['id'], amount: '1' };
    const simulated = await ask('/test/simulate-deposit', 16, body);
    expect(simulated.filter((status) => status === 429).length).to.be.within(6, 15);
    expect(await ask(`/webhook-endpoints/${two}/test`, 1)).to.deep.equal([429]);
    const beside = await call(`${slow.url}/balance`, { key: keys.test });
    expect(beside.status, 'everything else goes on').to.equal(200);
  });
});
