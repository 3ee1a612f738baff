import { expect } from 'chai';
import { cancelPaymentLink, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { refusalOf } from '../../support/refusals.ts';

describe('payment links: a cancel, and test mode', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop({ poolSize: 25 });
  });
  after(() => shop?.stop());

  describe('a cancel', () => {
    const cancel = (id: string, mode: 'live' | 'test' = 'live') =>
      cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode, id });
    const newLink = async () => await shop.link({ customerId: await shop.customer() });

    it('closes an open link for later money, as often as it is asked', async () => {
      const link = await newLink();
      const first = await cancel(link.id);
      expect(first.status).to.equal('cancelled');
      expect(await cancel(link.id)).to.deep.equal(first);
      expect(await shop.linkOf(await shop.pay(link.customer_id, { coins: '25' }))).to.equal(null);
      expect(await shop.view(link.id)).to.include({ status: 'cancelled', amount_status: 'late' });
    });

    it('is refused while money is on its way and when the link is at its end', async () => {
      const link = await newLink();
      const deposit = await shop.pay(link.customer_id, { coins: '20', state: 'detected' });
      expect((await refusalOf(cancel(link.id))).message).to.include('being confirmed');
      await shop.move(deposit, 'confirming');
      await shop.move(deposit, 'completed');
      const short = { status: 'cancelled', amount_status: 'underpaid', paid_amount_usd: 20 };
      expect(await cancel(link.id)).to.include(short);
      const paid = await shop.link({ customerId: link.customer_id });
      await shop.pay(link.customer_id, { coins: '25' });
      expect((await refusalOf(cancel(paid.id))).code).to.equal('INVALID');
      expect((await refusalOf(cancel(link.id, 'test'))).code).to.equal('NOT_FOUND');
      expect((await refusalOf(cancel('nonsense'))).code).to.equal('NOT_FOUND');
    });

    it('and a payment at the same moment leave one of two whole outcomes', async () => {
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          const link = await newLink();
          const [cancelled, deposit] = await Promise.all([
            cancel(link.id).then(
              () => true,
              () => false,
            ),
            shop.pay(link.customer_id, { coins: '25' }),
          ]);
          const { status } = await shop.view(link.id);
          expect([status, (await shop.linkOf(deposit)) !== null]).to.deep.equal(
            cancelled ? ['cancelled', false] : ['completed', true],
          );
          expect(await shop.completions(link.id)).to.have.length(cancelled ? 0 : 1);
        }),
      );
    });
  });

  describe('in test mode', () => {
    const simulate = async (customerId: string, more: object = {}) => {
      const money = { network: 'bsc', currency: 'USDT', amountUnits: 25n * 10n ** 18n } as const;
      const how = { outcome: 'completed', events: 'final', ...more } as const;
      return await simulateDeposit(shop.deps, { merchantId: shop.merchantId, customerId, ...money, ...how });
    };
    const linked = async (customerId: string) => await shop.link({ customerId, mode: 'test' });
    const view = async ({ id }: { id: string }) => await shop.view(id, 'test');

    it('a simulated deposit pays the link it names, or the one that it matches', async () => {
      const customerId = await shop.customer('test');
      const one = await linked(customerId);
      shop.pass(1);
      const two = await linked(customerId);
      await simulate(customerId, { paymentToken: two.token });
      expect([(await view(one)).status, (await view(two)).status]).to.deep.equal(['pending', 'completed']);
      await simulate(customerId);
      expect((await view(one)).status).to.equal('completed');
    });

    it('refuses a token that the deposit could not pay, but repeats a known hash', async () => {
      const customerId = await shop.customer('test');
      const link = await shop.link({ customerId, mode: 'test', network: 'tron' });
      const other = await linked(await shop.customer('test'));
      const live = await shop.link({ customerId: await shop.customer() });
      const refused = async (more: object) => (await refusalOf(simulate(customerId, more))).field;
      for (const paymentToken of [other.token, live.token, 'pl_nonsense', link.token])
        expect(await refused({ paymentToken })).to.equal('payment_token');
      const money = { network: 'tron', amountUnits: 25n * 10n ** 6n, paymentToken: link.token };
      const payment = { ...money, transactionHash: 'cd'.repeat(32) };
      expect((await simulate(customerId, payment))?.created).to.equal(true);
      expect(await refused({ ...payment, transactionHash: 'ef'.repeat(32) })).to.equal('payment_token');
      expect((await simulate(customerId, payment))?.created).to.equal(false);
    });
  });
});
