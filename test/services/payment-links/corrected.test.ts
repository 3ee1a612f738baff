import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

/**
 * What a first read showed wrongly is put right before it is completed;
 * the link that it pays follows, and its merchant hears the truth.
 */
describe('a payment whose amount a later read corrects', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(async () => {
    await shop?.stop();
  });

  const newHash = () => `0x${randomBytes(32).toString('hex')}`;
  const usd = (units: bigint): number => Number.parseInt((units / 10n ** 16n).toString(), 10) / 100;
  async function announced(linkId: string): Promise<Record<string, unknown>> {
    const [event] = await shop.sql<{ body: string }>(
      `select convert_from(body, 'utf8') as body from events where type = 'payment.completed'
        and subject_id = ?`,
      [linkId],
    );
    return (JSON.parse(event?.body ?? '{}') as { data: Record<string, unknown> }).data;
  }

  for (const { shown, real, status, amount, remaining, overpaid } of [
    { shown: '30', real: '25', status: 'completed', amount: 'exact', remaining: 0, overpaid: 0 },
    { shown: '10', real: '25', status: 'completed', amount: 'exact', remaining: 0, overpaid: 0 },
    { shown: '25', real: '40', status: 'completed', amount: 'overpaid', remaining: 0, overpaid: 15 },
    { shown: '25', real: '10', status: 'partially_paid', amount: 'underpaid', remaining: 15, overpaid: 0 },
    { shown: '25', real: '24.9', status: 'completed', amount: 'underpaid', remaining: 0, overpaid: 0 },
  ])
    it(`is ${status} and ${amount} with ${real} of 25 that was shown as ${shown}`, async () => {
      const link = await shop.link({ customerId: await shop.customer() });
      const hash = newHash();
      const id = await shop.pay(link.customer_id, { coins: shown, hash, state: 'detected' });
      expect(await shop.linkOf(id)).to.equal(link.id);
      expect(
        await shop.pay(link.customer_id, { coins: real, hash, state: 'detected' }),
        'the same deposit',
      ).to.equal(id);
      expect(usd((await shop.row(link.id)).assignedUnits)).to.equal(Number.parseFloat(real));
      expect(await shop.view(link.id)).to.include({
        status: 'processing',
        amount_status: 'none',
        paid_amount_usd: 0,
      });
      await shop.move(id, 'confirming');
      await shop.move(id, 'completed');
      const sums = {
        status,
        amount_status: amount,
        remaining_amount_usd: remaining,
        overpaid_amount_usd: overpaid,
      };
      expect(await shop.view(link.id)).to.include({ ...sums, paid_amount_usd: Number.parseFloat(real) });
      expect(await shop.completions(link.id)).to.have.length(status === 'completed' ? 1 : 0);
      if (status === 'completed')
        expect(await announced(link.id)).to.include({ ...sums, paid_amount_usd: Number.parseFloat(real) });
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
    const hash = newHash();
    const minedAt = shop.clock.now;
    const id = await shop.pay(customerId, { coins: '7', hash, state: 'detected', at: minedAt });
    shop.pass(600);
    const link = await shop.link({ customerId, usd: '25' });
    await shop.pay(customerId, { coins: '25', hash, state: 'detected', at: minedAt });
    expect(await shop.linkOf(id)).to.equal(null);
    // Nor where it was mined once more after the link was made: a deposit is assigned once.
    shop.pass(60);
    await shop.pay(customerId, { coins: '25', hash, state: 'detected' });
    expect(await shop.linkOf(id)).to.equal(null);
    expect(await shop.view(link.id)).to.include({ status: 'pending', amount_status: 'none' });
  });
});
