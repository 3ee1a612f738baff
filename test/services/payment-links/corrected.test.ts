import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('a payment whose amount a later read corrects', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());

  const newHash = () => `0x${randomBytes(32).toString('hex')}`;

  for (const { shown, real, ...sums } of [
    { shown: '30', real: '25', status: 'completed', amount_status: 'exact' },
    { shown: '25', real: '40', status: 'completed', amount_status: 'overpaid', overpaid_amount_usd: 15 },
    {
      shown: '25',
      real: '10',
      status: 'partially_paid',
      amount_status: 'underpaid',
      remaining_amount_usd: 15,
    },
  ])
    it(`is ${sums.status} and ${sums.amount_status} with ${real} of 25 that was shown as ${shown}`, async () => {
      const link = await shop.link({ customerId: await shop.customer() });
      const hash = newHash();
      const seen = async (coins: string) =>
        await shop.pay(link.customer_id, { coins, hash, state: 'detected' });
      const id = await seen(shown);
      expect(await shop.linkOf(id)).to.equal(link.id);
      expect(await seen(real), 'the same deposit').to.equal(id);
      expect(Number((await shop.row(link.id)).assignedUnits / 10n ** 16n) / 100).to.equal(Number(real));
      const unpaid = { status: 'processing', amount_status: 'none', paid_amount_usd: 0 };
      expect(await shop.view(link.id)).to.include(unpaid);
      await shop.move(id, 'confirming');
      await shop.move(id, 'completed');
      const none = { remaining_amount_usd: 0, overpaid_amount_usd: 0 };
      const truth = { ...none, ...sums, paid_amount_usd: Number(real) };
      expect(await shop.view(link.id)).to.include(truth);
      const told = await shop.sql<{ data: object }>(
        `select convert_from(body, 'utf8')::json->'data' as data from events
         where type = 'payment.completed' and subject_id = ?`,
        [link.id],
      );
      expect(told).to.have.length(sums.status === 'completed' ? 1 : 0);
      for (const { data } of told) expect(data).to.include(truth);
      expect((await auditLedger(shop.deps)).differences).to.deep.equal([]);
    });

  it('stays with the link that it was assigned to when it was detected, also where another one fits better now', async () => {
    const customerId = await shop.customer();
    const one = await shop.link({ customerId, usd: '25' });
    shop.pass(1);
    const two = await shop.link({ customerId, usd: '40' });
    const hash = newHash();
    const id = await shop.pay(customerId, { coins: '25', hash, state: 'detected' });
    await shop.pay(customerId, { coins: '40', hash, state: 'detected' });
    expect(await shop.linkOf(id)).to.equal(one.id);
    expect((await shop.view(two.id)).status).to.equal('pending');
  });

  it('stays a plain deposit where it paid no link when it was detected: what is made afterwards asks for new money', async () => {
    const customerId = await shop.customer();
    const [hash, at] = [newHash(), shop.clock.now];
    const id = await shop.pay(customerId, { coins: '7', hash, state: 'detected', at });
    shop.pass(600);
    const link = await shop.link({ customerId, usd: '25' });
    shop.pass(60);
    for (const minedAt of [at, shop.clock.now]) {
      await shop.pay(customerId, { coins: '25', hash, state: 'detected', at: minedAt });
      expect(await shop.linkOf(id)).to.equal(null);
    }
    expect(await shop.view(link.id)).to.include({ status: 'pending', amount_status: 'none' });
  });
});
