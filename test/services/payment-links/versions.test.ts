import { expect } from 'chai';
import { Merchant, PaymentLink } from '../../../src/db/entities/index.ts';
import { moveLink } from '../../../src/services/payment-links/recount.ts';
import { changedLinks } from '../../../src/services/payment-links/versions.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { statementsOf } from '../../support/statements.ts';

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
    for (let block = 1; block <= 15; block += 1) {
      await shop.scanned('bsc', shop.clock.now);
      await expectMoved(`confirmation ${block}`);
    }
    await shop.scanned('bsc', shop.clock.now);
    await expectStill('a confirmation more than it needs');
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

  it('moves with what becomes of money that came too late', async () => {
    const link = await shop.link({ customerId: await shop.customer() });
    shop.pass(3_700);
    const hash = `0x${'5c'.repeat(32)}`;
    const { expectMoved, expectStill } = await followed(link.token);
    const deposit = await shop.pay(link.customer_id, { coins: '25', hash });
    await expectMoved('late money');
    await shop.move(deposit, 'failed', 'REORGED');
    await expectMoved('its block was replaced');
    await shop.pay(link.customer_id, { coins: '25', hash, state: 'detected' });
    await expectMoved('it was mined once more');
    await shop.scanned('bsc', shop.clock.now);
    await expectMoved('a confirmation of it');
    await expectStill('then');
  });

  it('is asked for any number of links in one statement; of unknown ones nothing is said', async () => {
    const links = [];
    for (let index = 0; index < 5; index += 1)
      links.push(await shop.link({ customerId: await shop.customer() }));
    const asked = new Map([
      ...links.map(({ token }) => [token, ''] as const),
      ['pl_unknown', ''],
      ["x'\u0022{},\\", ''],
    ]);
    const sent = await statementsOf(shop.deps.orm);
    const found = await changedLinks(shop.deps, asked);
    expect([...found.keys()].sort()).to.deep.equal(links.map(({ token }) => token).sort());
    expect(sent).to.have.length(1);
    expect(await changedLinks(shop.deps, found)).to.deep.equal(new Map());
    expect(await changedLinks(shop.deps, new Map())).to.deep.equal(new Map());
    expect(sent).to.have.length(2);
  });
});
