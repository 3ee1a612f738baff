import { expect } from 'chai';
import { cancelPaymentLink, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { getDeposit } from '../../../src/services/deposits/reads.ts';
import type { Refusal } from '../../../src/services/refusal.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('payment links: a cancel, and test mode', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop({ poolSize: 25 });
  });
  after(async () => {
    await shop?.stop();
  });

  describe('a cancel', () => {
    const cancel = (id: string) =>
      cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode: 'live', id });

    it('closes an open link for later money, as often as it is asked', async () => {
      const link = await shop.link({ customerId: await shop.customer() });
      const first = await cancel(link.id);
      expect(first.status).to.equal('cancelled');
      expect(await cancel(link.id)).to.deep.equal(first);
      expect(await shop.linkOf(await shop.pay(link.customer_id, { coins: '25' }))).to.equal(null);
      expect(await shop.view(link.id)).to.include({ status: 'cancelled', amount_status: 'late' });
    });

    it('is refused while money is on its way and when the link is at its end', async () => {
      const link = await shop.link({ customerId: await shop.customer() });
      const deposit = await shop.pay(link.customer_id, { coins: '20', state: 'detected' });
      const refused = async () => (await cancel(link.id).catch((error: Refusal) => error.message)) as string;
      expect(await refused()).to.include('being confirmed');
      await shop.move(deposit, 'confirming');
      await shop.move(deposit, 'completed');
      expect(await cancel(link.id)).to.include({
        status: 'cancelled',
        amount_status: 'underpaid',
        paid_amount_usd: 20,
      });
      const paid = await shop.link({ customerId: link.customer_id });
      await shop.pay(link.customer_id, { coins: '25' });
      expect(
        await cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode: 'live', id: paid.id }).catch(
          (error: Refusal) => error.code,
        ),
      ).to.equal('INVALID');
      for (const [id, mode] of [
        [link.id, 'test'],
        ['nonsense', 'live'],
      ] as const)
        expect(
          await cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode, id }).catch(
            (error: Refusal) => error.code,
          ),
        ).to.equal('NOT_FOUND');
    });

    it('and a payment at the same moment leave one of two whole outcomes', async () => {
      await Promise.all(
        Array.from({ length: 15 }, async () => {
          const link = await shop.link({ customerId: await shop.customer() });
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
      const base = {
        merchantId: shop.merchantId,
        customerId,
        network: 'bsc',
        currency: 'USDT',
        amountUnits: 25n * 10n ** 18n,
      } as const;
      return await simulateDeposit(shop.deps, { ...base, outcome: 'completed', events: 'final', ...more });
    };
    const refusal = (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        (error: Refusal) => error.field,
      );

    it('a simulated deposit pays the link it names, or the one that it matches', async () => {
      const customerId = await shop.customer('test');
      const one = await shop.link({ customerId, mode: 'test' });
      shop.pass(1);
      const two = await shop.link({ customerId, mode: 'test' });
      await simulate(customerId, { paymentToken: two.token });
      expect([
        (await shop.view(one.id, 'test')).status,
        (await shop.view(two.id, 'test')).status,
      ]).to.deep.equal(['pending', 'completed']);
      const made = await simulate(customerId);
      expect((await shop.view(one.id, 'test')).status).to.equal('completed');
      const shown = await getDeposit(shop.deps, {
        merchantId: shop.merchantId,
        mode: 'test',
        id: String(made?.deposit.id),
      });
      expect(shown.payment_token).to.equal(one.token);
    });

    it('rehearses a payment that fails and one that comes late', async () => {
      const customerId = await shop.customer('test');
      const link = await shop.link({ customerId, mode: 'test' });
      await simulate(customerId, { paymentToken: link.token, outcome: 'reorged' });
      expect((await shop.view(link.id, 'test')).status).to.equal('pending');
      shop.pass(4_000);
      await simulate(customerId, { paymentToken: link.token });
      expect(await shop.view(link.id, 'test')).to.include({ amount_status: 'late', paid_amount_usd: 0 });
    });

    it('rehearses late money for the link that it names, whatever else the customer could pay', async () => {
      const customerId = await shop.customer('test');
      const link = await shop.link({ customerId, mode: 'test' });
      shop.pass(4_000);
      const open = await shop.link({ customerId, mode: 'test' });
      await simulate(customerId, { paymentToken: link.token });
      expect(await shop.view(link.id, 'test')).to.include({ amount_status: 'late', paid_amount_usd: 0 });
      expect(await shop.view(open.id, 'test')).to.include({ status: 'pending', amount_status: 'none' });
    });

    it('refuses a token that the deposit could not pay, but repeats a known hash', async () => {
      const customerId = await shop.customer('test');
      const link = await shop.link({ customerId, mode: 'test', network: 'tron' });
      const other = await shop.link({ customerId: await shop.customer('test'), mode: 'test' });
      const live = await shop.link({ customerId: await shop.customer() });
      for (const paymentToken of [other.token, live.token, 'pl_nonsense', link.token])
        expect(await refusal(simulate(customerId, { paymentToken }))).to.equal('payment_token');
      const payment = {
        network: 'tron',
        amountUnits: 25n * 10n ** 6n,
        paymentToken: link.token,
        transactionHash: 'cd'.repeat(32),
      };
      expect((await simulate(customerId, payment))?.created).to.equal(true);
      expect(await refusal(simulate(customerId, { ...payment, transactionHash: 'ef'.repeat(32) }))).to.equal(
        'payment_token',
      );
      expect((await simulate(customerId, payment))?.created).to.equal(false);
    });
  });
});
