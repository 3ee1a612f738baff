import { expect } from 'chai';
import { Merchant, PaymentLink } from '../../../src/db/entities/index.ts';
import { moveLink } from '../../../src/services/payment-links/recount.ts';
import { changedLinks } from '../../../src/services/payment-links/versions.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('the version of a payment link', function () {
  this.timeout(30_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());

  const versionOf = async (token: string, known = '') =>
    (await changedLinks(shop.deps, new Map([[token, known]]))).get(token);

  const followed = async (token: string) => {
    let known = (await versionOf(token)) ?? '';
    return {
      expectMoved: async (what: string) => {
        const now = await versionOf(token, known);
        expect(now, what).to.be.a('string').and.not.equal(known);
        known = now ?? '';
      },
      expectStill: async (what: string) => expect(await versionOf(token, known), what).to.equal(undefined),
    };
  };

  it('moves with each thing that its payer may see, and with nothing else', async () => {
    const customerId = await shop.customer();
    const [link, other] = [
      await shop.link({ customerId, usd: '40' }),
      await shop.link({ customerId: await shop.customer() }),
    ];
    const { expectMoved, expectStill } = await followed(link.token);
    await expectStill('at rest');
    const first = await shop.pay(customerId, { coins: '10', state: 'detected' });
    await expectMoved('money that was seen');
    await shop.move(first, 'confirming');
    await expectMoved('money whose state changed');
    await shop.scanned('bsc', shop.clock.now);
    await expectMoved('a confirmation');
    await shop.scanned('tron', shop.clock.now);
    await expectStill('a block of another network');
    await shop.pay(other.customer_id, { coins: '5', state: 'detected' });
    await expectStill('money for another link');
    await shop.move(first, 'completed');
    await expectMoved('money that is completed');
    const merchants = shop.deps.orm.em.fork();
    await merchants.nativeUpdate(Merchant, { id: shop.merchantId }, { name: 'Another' });
    await expectMoved('the name of the merchant');
    await transact(shop.deps, async (tx) => {
      moveLink(shop.deps, await tx.em.findOneOrFail(PaymentLink, link.id), 'cancelled');
    });
    await expectMoved('its own state');
  });
});
