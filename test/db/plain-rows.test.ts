import { expect } from 'chai';
import { Customer, Deposit, PaymentLink, WebhookDelivery } from '../../src/db/entities/index.ts';
import { plainRows } from '../../src/db/plain-rows.ts';
import { DEPOSIT_FIELDS } from '../../src/services/deposits/present.ts';
import { LINK_FIELDS } from '../../src/services/payment-links/present.ts';
import { DELIVERY_FIELDS } from '../../src/services/webhooks/present.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';

describe('plain rows', function () {
  this.timeout(60_000);
  let api: TestApi;
  const fork = () => api.deps.orm.em.fork();
  const post = (path: string, body: object) => call(`${api.url}${path}`, { key: api.keys.test, body });

  before(async () => {
    api = await startTestApi();
    await post('/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: ['*'] });
    const customer = (
      await post('/customers', { external_id: 'u', email: 'u@example.com', metadata: { a: [1, 'x'] } })
    ).body['id'];
    const bare = { customer_id: customer, amount_usd: 10 };
    const full = {
      ...bare,
      description: 'd',
      external_id: 'e',
      metadata: { order: 7 },
      success_url: 'https://shop.example/ok',
    };
    const link = await post('/request-payment', full);
    expect((await post('/request-payment', bare)).status).to.equal(201);
    for (const paid of [
      { customer_id: customer, amount: '10', payment_token: link.body['token'], events: 'full' },
      { customer_id: customer, amount: '7.123456789012345678', network: 'bsc' },
    ])
      expect((await post('/test/simulate-deposit', paid)).status).to.equal(201);
  });
  after(() => api.stop());

  it('hold the values that the entities have: base units as bigint, times as Date, numbers as numbers', async () => {
    const same = (entities: readonly object[], rows: readonly object[], fields: readonly string[]): void => {
      const values = (row: object) => fields.map((field) => (row as Record<string, unknown>)[field] ?? null);
      expect(rows.length).to.be.at.least(1);
      expect(rows.map(values)).to.deep.equal(entities.map(values));
    };
    const oldestFirst = <Row extends { readonly id: string }>(rows: readonly Row[]) =>
      rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    for (const [entity, fields] of [
      [Customer, ['id', 'externalId', 'email', 'metadata']],
      [Deposit, DEPOSIT_FIELDS],
      [PaymentLink, LINK_FIELDS],
      [WebhookDelivery, DELIVERY_FIELDS],
    ] as const)
      same(
        oldestFirst((await fork().find(entity as typeof Customer, {})) as Customer[]),
        oldestFirst((await plainRows(fork(), entity as typeof Customer, {}, fields as never)) as Customer[]),
        fields,
      );
    const [deposit] = await plainRows(fork(), Deposit, { amountUnits: 7_123_456_789_012_345_678n }, [
      'amountUnits',
      'blockNumber',
      'detectedAt',
    ]);
    expect([deposit?.amountUnits, typeof deposit?.blockNumber]).to.deep.equal([
      7_123_456_789_012_345_678n,
      'number',
    ]);
    expect(deposit?.detectedAt).to.be.instanceOf(Date);
  });

  it('see what the caller changed and did not write yet', async () => {
    await fork()
      .transactional(async (em) => {
        const customer = await em.findOneOrFail(Customer, { externalId: 'u' });
        customer.email = 'later@example.com';
        expect(await plainRows(em, Customer, { id: customer.id }, ['email'])).to.deep.equal([
          { email: 'later@example.com' },
        ]);
        throw new Error('undone');
      })
      .catch((error: Error) => expect(error.message).to.equal('undone'));
  });
});
