import { expect } from 'chai';
import { createPaymentLink } from '../../../dev/support/use-cases.ts';
import { releaseDeposit } from '../../../src/services/deposits/operator.ts';
import { linkDifferences } from '../../../src/services/payment-links/money.ts';
import { type Pay, type Shop, startShop } from '../../support/payment-shop.ts';

describe('money that arrives for payment links', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop({ poolSize: 25 });
  });
  after(() => shop?.stop());

  const twoLinks = async (first: string, second: string) => {
    const customerId = await shop.customer();
    const one = await shop.link({ customerId, usd: first });
    shop.pass(1);
    return { customerId, one, two: await shop.link({ customerId, usd: second }) };
  };

  const linkOfPaid = async (customerId: string, money: Pay) =>
    await shop.linkOf(await shop.pay(customerId, money));
  const newLink = async () => await shop.link({ customerId: await shop.customer() });

  it('goes to the link whose open amount it is, else to the oldest open one', async () => {
    const { customerId, one, two } = await twoLinks('25', '40');
    for (const [coins, network, link] of [
      ['40', 'bsc', two],
      ['7', 'bsc', one],
      // What is open of the older one is now 18.
      ['18', 'tron', one],
      // When all are covered.
      ['3', 'bsc', one],
    ] as const)
      expect(await linkOfPaid(customerId, { coins, network, state: 'detected' }), coins).to.equal(link.id);
  });

  it('leaves alone links of other customers, other modes and other networks', async () => {
    const customerId = await shop.customer();
    const narrow = await shop.link({ customerId, network: 'tron' });
    await shop.link({ customerId: await shop.customer() });
    expect(await linkOfPaid(customerId, { coins: '25' })).to.equal(null);
    expect(await linkOfPaid(customerId, { coins: '25', network: 'tron' })).to.equal(narrow.id);
    expect(await shop.view(narrow.id)).to.include({
      status: 'completed',
      amount_status: 'exact',
      paid_network: 'tron',
      paid_currency: 'USDT',
    });
  });

  it('counts when it is completed, adds up over transactions and networks, and completes once', async () => {
    const link = await newLink();
    const seen = async () => {
      const { status, amount_status, paid_amount_usd, remaining_amount_usd } = await shop.view(link.id);
      return [status, amount_status, paid_amount_usd, remaining_amount_usd];
    };
    expect(await seen()).to.deep.equal(['pending', 'none', 0, 25]);
    const first = await shop.pay(link.customer_id, { coins: '10', state: 'detected' });
    expect(await seen()).to.deep.equal(['processing', 'none', 0, 25]);
    await shop.move(first, 'confirming');
    await shop.move(first, 'completed');
    expect(await seen()).to.deep.equal(['partially_paid', 'underpaid', 10, 15]);
    shop.pass(1);
    const second = await shop.pay(link.customer_id, { coins: '15', network: 'tron', state: 'confirming' });
    expect(await seen()).to.deep.equal(['processing', 'underpaid', 10, 15]);
    await shop.move(second, 'completed');
    expect(await seen()).to.deep.equal(['completed', 'exact', 25, 0]);
    const done = await shop.view(link.id);
    expect(done.transactions.map((row) => [row.network, row.amount, row.status])).to.deep.equal([
      ['bsc', '10', 'completed'],
      ['tron', '15', 'completed'],
    ]);
    expect(done).to.include({
      paid_network: 'tron',
      transaction_hash: (await shop.deposit(second)).transactionHash,
    });
    await shop.move(first, 'settled');
    expect(await seen()).to.deep.equal(['completed', 'exact', 25, 0]);
    expect(await shop.completions(link.id)).to.have.length(1);
    expect(await linkOfPaid(link.customer_id, { coins: '25' }), 'after the completion').to.equal(null);
  });

  for (const [coins, status, amount] of [
    ['24.874999999999999999', 'partially_paid', 'underpaid'],
    ['24.875', 'completed', 'underpaid'],
    ['25.000000000000000001', 'completed', 'overpaid'],
    ['30', 'completed', 'overpaid'],
  ] as const)
    it(`is ${status} and ${amount} with ${coins} of 25`, async () => {
      const link = await newLink();
      await shop.pay(link.customer_id, { coins });
      const overpaid = { overpaid_amount_usd: coins === '30' ? 5 : 0 };
      expect(await shop.view(link.id)).to.include({ status, amount_status: amount, ...overpaid });
    });

  it('keeps the tolerance of the time the link was made', async () => {
    const link = await newLink();
    expect((await shop.row(link.id)).leastUnits).to.equal(24_875n * 10n ** 15n);
    const { settings } = shop.deps;
    const payments = { ...settings.payments, toleranceBasisPoints: 0n };
    const strict = { ...shop.deps, settings: { ...settings, payments } };
    const { customer_id: customerId } = link;
    const terms = { merchantId: shop.merchantId, mode: 'live' as const, customerId, publicUrl: '' };
    const { link: exact } = await createPaymentLink(strict, { ...terms, amountCents: 2_500n });
    expect((await shop.row(exact.id)).leastUnits).to.equal(25n * 10n ** 18n);
  });

  it('completes a link once, however many last deposits complete at the same moment', async () => {
    const link = await shop.link({ customerId: await shop.customer(), webhookUrl: 'http://127.0.0.1:9/' });
    const deposits = [];
    for (let count = 0; count < 8; count += 1)
      deposits.push(await shop.pay(link.customer_id, { coins: '25', state: 'confirming' }));
    expect(new Set(await Promise.all(deposits.map(shop.linkOf)))).to.deep.equal(new Set([link.id]));
    await Promise.all(deposits.map((id) => shop.move(id, 'completed')));
    const done = await shop.view(link.id);
    expect(done).to.include({
      status: 'completed',
      amount_status: 'overpaid',
      paid_amount_usd: 200,
      overpaid_amount_usd: 175,
    });
    expect(await shop.completions(link.id)).to.have.length(1);
    expect(
      await shop.sql('select id from webhook_deliveries where endpoint_id = ?', [link.id]),
    ).to.have.length(1);
    const row = await shop.row(link.id);
    expect(row.sequence).to.equal(3);
  });

  it('counts for nothing when it fails, keeps its link, and counts again when it comes back: there, or where it is wanted', async () => {
    const { customerId, one, two } = await twoLinks('25', '40');
    const hash = `0x${'ab'.repeat(32)}`;
    const deposit = await shop.pay(customerId, { coins: '40', state: 'confirming', hash });
    expect(await shop.linkOf(deposit)).to.equal(two.id);
    await shop.move(deposit, 'failed', 'REORGED');
    expect(await shop.linkOf(deposit)).to.equal(two.id);
    expect(await shop.view(two.id)).to.include({ status: 'pending', amount_status: 'none' });
    await shop.pay(customerId, { coins: '40', state: 'detected', hash });
    expect(await shop.deposit(deposit)).to.include({
      paymentLinkId: two.id,
      generation: 2,
      status: 'detected',
    });
    await shop.move(deposit, 'confirming');
    await shop.move(deposit, 'completed');
    expect([(await shop.view(one.id)).status, (await shop.view(two.id)).status]).to.deep.equal([
      'pending',
      'completed',
    ]);
  });

  it('pays again when an operator releases it', async () => {
    const link = await newLink();
    const deposit = await shop.pay(link.customer_id, { coins: '25', state: 'detected', block: 5 });
    await shop.move(deposit, 'failed', 'REJECTED_BY_OPERATOR');
    expect((await shop.view(link.id)).status).to.equal('pending');
    await shop.scanned('bsc', shop.clock.now);
    await shop.sql('update chain_cursors set scanned_number = 10, reread_number = 10, anchored_number = 10');
    await shop.sql('update deposits set verified_at = now() where id = ?', [deposit]);
    await releaseDeposit(shop.deps, { depositId: deposit, by: 'test', reason: 'it is fine' });
    expect(await shop.view(link.id)).to.include({ status: 'completed', amount_status: 'exact' });
    await shop.sql('delete from chain_cursors');
  });

  it('tells the truth about a link whose money was withdrawn after it was completed, and does not complete it again', async () => {
    const link = await newLink();
    const deposit = await shop.pay(link.customer_id, { coins: '25' });
    await shop.move(deposit, 'failed', 'REORGED');
    expect(await shop.view(link.id)).to.include({
      status: 'completed',
      amount_status: 'none',
      paid_amount_usd: 0,
    });
    await shop.pay(link.customer_id, { coins: '25' });
    expect(await shop.completions(link.id)).to.have.length(1);
  });

  describe('late', () => {
    it('is in time with a block at the very moment of the expiry, whenever it is seen', async () => {
      const link = await newLink();
      const expiry = new Date(link.expires_at);
      shop.pass(4_000);
      expect(
        await shop.linkOf(await shop.pay(link.customer_id, { coins: '5', at: expiry, state: 'detected' })),
      ).to.equal(link.id);
      const after = await shop.pay(link.customer_id, { coins: '20', at: new Date(expiry.getTime() + 1_000) });
      expect(await shop.linkOf(after)).to.equal(null);
      expect(await shop.view(link.id)).to.include({ status: 'processing', amount_status: 'late' });
    });

    it('shows on the link that it would have paid, and is a plain deposit', async () => {
      const { customerId, one, two } = await twoLinks('25', '40');
      shop.pass(3_700);
      const late = await shop.pay(customerId, { coins: '24.9' });
      expect(await shop.linkOf(late)).to.equal(null);
      expect(await shop.view(one.id)).to.include({ amount_status: 'late', paid_amount_usd: 0 });
      expect((await shop.view(two.id)).amount_status).to.equal('none');
      await shop.pay(customerId, { coins: '12' });
      expect((await shop.view(two.id)).amount_status, 'money that fits no link').to.equal('none');
    });
  });

  it('leaves every link with the sums of its deposits', async () => {
    const everything = { afterId: '00000000-0000-0000-0000-000000000000', limit: 10_000 };
    const { differences } = await linkDifferences(shop.deps.orm.em.fork(), everything);
    expect(differences).to.deep.equal([]);
  });
});
