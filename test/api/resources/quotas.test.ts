import { expect } from 'chai';
import type { Mode } from '../../../src/domain/assets.ts';
import { type Quota, setQuotas } from '../../../src/services/merchants/quotas.ts';
import { type Answer, apiOf, call, type TestMerchant } from '../../support/gateway.ts';

describe('quotas', function () {
  this.timeout(30_000);
  const api = apiOf();
  let merchant: TestMerchant;
  let number = 0;
  beforeEach(async () => {
    merchant = await api.newMerchant();
  });

  const allow = (quotas: Partial<Record<Quota, number | null>>, mode: Mode = 'test') =>
    setQuotas(api.deps, { merchantId: merchant.id, mode, quotas });
  /** What a busy machine could not do in time is asked for again. */
  const post = async (path: string, body: object = {}, key = merchant.keys.test): Promise<Answer> => {
    for (;;) {
      const answer = await call(`${api.url}${path}`, { key, body });
      if (answer.status !== 503) return answer;
    }
  };
  const customer = (key?: string): Promise<Answer> => {
    number += 1;
    return post('/customers', { external_id: `c-${number}` }, key);
  };
  const link = (): Promise<Answer> => {
    number += 1;
    return post('/request-payment', { email: `l-${number}@example.org`, amount_usd: 10 });
  };
  const told = ({ status, body }: Answer) => [status, body['code']];

  it('of customers hold for whatever makes one, exactly, also for many calls at once', async () => {
    await allow({ customers: 12 });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? customer() : link())),
    );
    // A 503 of a busy machine may have been carried out: asked for again it is there already.
    const made = answers.filter(({ status, body }) => status === 201 || body['code'] === 'CUSTOMER_EXISTS');
    expect(made.length).to.be.at.most(12);
    for (const refused of answers.filter((answer) => !made.includes(answer))) {
      expect(told(refused)).to.deep.equal([403, 'QUOTA_REACHED']);
      expect(refused.body['error']).to.match(/^This merchant may have 12 customers in test mode/);
    }
    const { body } = await call(`${api.url}/customers`, { key: merchant.keys.test });
    expect(body['pagination'].total).to.equal(12);
    expect((await customer(merchant.keys.live)).status, 'the other mode').to.equal(201);
    expect((await customer((await api.newMerchant()).keys.test)).status, 'another merchant').to.equal(201);
    await allow({ customers: null });
    expect((await customer()).status, 'after it was taken away').to.equal(201);
  });

  it('of open links count those that are open, and let the next one in when one ends', async () => {
    await allow({ open_links: 3 });
    const answers = await Promise.all(Array.from({ length: 10 }, link));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).to.have.length(3);
    expect(told(await link())).to.deep.equal([403, 'QUOTA_REACHED']);
    await post(`/payment-links/${made[0]?.body['id']}/cancel`);
    expect((await link()).status).to.equal(201);
    const { body } = await call(`${api.url}/customers`, { key: merchant.keys.test });
    expect(body['pagination'].total, 'customers: none of a link that was refused').to.equal(4);
  });

  it('of events a day count what calls ask for, and begin anew with the day', async () => {
    const { body } = await customer();
    await allow({ events_per_day: 5 });
    const simulate = (more: object) =>
      post('/test/simulate-deposit', { customer_id: body['id'], amount: '1', ...more });
    expect((await simulate({ events: 'full' })).status, 'three events').to.equal(201);
    const more = await simulate({ events: 'full' });
    expect(told(more), 'three more').to.deep.equal([429, 'DAILY_QUOTA_REACHED']);
    const answers = await Promise.all(Array.from({ length: 10 }, () => customer()));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(2);
    const refused = await customer();
    expect(told(refused)).to.deep.equal([429, 'DAILY_QUOTA_REACHED']);
    expect(Number(refused.headers.get('retry-after'))).to.be.above(0);
    await api.deps.orm.em
      .fork()
      .execute(`update quotas set used_on = used_on - 1 where merchant_id = ?`, [merchant.id]);
    expect((await customer()).status, 'the next day').to.equal(201);
  });
});
