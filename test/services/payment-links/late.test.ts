import { expect } from 'chai';
import { getPublicPayment } from '../../../src/services/payment-links/public.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('a transaction that came too late for a payment link', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());

  it('is shown to its payer, once, and what became of it', async () => {
    const link = await shop.link({ customerId: await shop.customer() });
    shop.pass(3_700);
    const hash = `0x${'1a'.repeat(32)}`;
    const deposit = await shop.pay(link.customer_id, { coins: '25', hash });
    const shown = async () => {
      const { transactions, late_transactions: late } = await getPublicPayment(shop.deps, link.token);
      expect(transactions).to.deep.equal([]);
      return late.map(({ transaction_hash, network, amount, status }) => [
        transaction_hash,
        network,
        amount,
        status,
      ]);
    };
    expect(await shown()).to.deep.equal([[hash, 'bsc', '25', 'completed']]);
    await shop.move(deposit, 'failed', 'REORGED');
    expect(await shown()).to.deep.equal([[hash, 'bsc', '25', 'failed']]);
    await shop.pay(link.customer_id, { coins: '25', hash });
    expect(await shown(), 'mined again').to.deep.equal([[hash, 'bsc', '25', 'completed']]);
  });

  it('is one of twenty at most, the oldest first', async () => {
    const link = await shop.link({ customerId: await shop.customer() });
    shop.pass(3_700);
    const first = `0x${'2b'.repeat(32)}`;
    await shop.pay(link.customer_id, { coins: '25', hash: first });
    for (let more = 0; more < 20; more += 1) {
      shop.pass(1);
      await shop.pay(link.customer_id, { coins: '25' });
    }
    const { late_transactions: late } = await getPublicPayment(shop.deps, link.token);
    expect(late).to.have.length(20);
    expect(late[0]?.transaction_hash).to.equal(first);
  });
});
