import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { createEndpoint, sendTestEvent } from '../../../dev/support/use-cases.ts';
import { getMerchantPayout, listMerchantPayouts } from '../../../src/services/payouts/views.ts';
import { eventInFull } from '../../../src/services/webhooks/shown/event-reads.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('the bytes of events, and payouts in lists', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
    const customerId = await shop.customer();
    for (const [coins, network] of [
      ['1', 'bsc'],
      ['2', 'tron'],
      ['3', 'bsc'],
      ['4', 'tron'],
    ] as const) {
      shop.pass(40);
      const id = await shop.pay(customerId, { coins, network });
      if (coins !== '4') await shop.move(id, 'settled');
    }
  });
  after(() => shop?.stop());
  const scope = () => ({ merchantId: shop.merchantId, mode: 'live' as const });
  const page = { limit: 100 };
  const payouts = (more: object = {}) => listMerchantPayouts(shop.deps, { ...scope(), page, ...more });

  it('give the very bytes of an event that are signed', async () => {
    const url = 'http://127.0.0.1:9/hooks';
    const hooks = { ...scope(), url, events: ['*'], description: null };
    const endpoint = await createEndpoint(shop.deps, hooks);
    const { id } = await sendTestEvent(shop.deps, { ...scope(), id: endpoint.id });
    const { event, body, deliveries } = await eventInFull(shop.deps, { ...scope(), id });
    const [stored] = await shop.sql<{ body: Buffer }>('select body from events where id = ?', [id]);
    const hash = (bytes: Uint8Array) => createHmac('sha256', endpoint.secret).update(bytes).digest('hex');
    expect(hash(body)).to.equal(hash(stored?.body ?? Buffer.alloc(0)));
    const told = { event: 'webhook.test', timestamp: event.timestamp };
    expect(JSON.parse(Buffer.from(body).toString('utf8'))).to.include(told);
    expect(deliveries.map((one) => one.url)).to.deep.equal([url]);
  });

  it('have every payout once, filtered by state and network, with its deposits in a merchant’s words', async () => {
    const all = await payouts();
    expect([all.total, all.rows.map(({ network }) => network)]).to.deep.equal([3, ['bsc', 'tron', 'bsc']]);
    for (const [filter, total] of [
      [{ network: 'tron' }, 1],
      [{ state: 'settled' }, 3],
      [{ state: 'failed' }, 0],
      [{ mode: 'test' }, 0],
      [{ createdFrom: new Date('2026-11-21T00:00:00Z') }, 0],
    ] as const)
      expect((await payouts(filter)).total, JSON.stringify(filter)).to.equal(total);
    const [newest] = all.rows;
    const seen = await getMerchantPayout(shop.deps, { ...scope(), id: newest?.id ?? '' });
    expect(seen).to.deep.include({ ...newest, words: 'Paid to your withdraw address.', wait: null });
    expect(seen.deposits.map(({ amount, settled }) => [amount, settled])).to.deep.equal([['3', '3']]);
    const words = 'The payment to your withdraw address';
    const { transaction_hash } = newest ?? {};
    expect(seen.transactions).to.have.length(1);
    expect(seen.transactions[0]).to.deep.include({ words, state: 'final', transaction_hash });
  });
});
