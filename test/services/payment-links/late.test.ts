import { expect } from 'chai';
import { cancelPaymentLink } from '../../../dev/support/use-cases.ts';
import { getPublicPayment } from '../../../src/services/payment-links/public.ts';
import { isPaid } from '../../../src/web/checkout/state.ts';
import { standOf } from '../../../src/web/dashboard/pages/link-words.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('a transaction that does not count for a payment link', function () {
  this.timeout(60_000);
  let shop: Shop;
  let hashes = 0;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());

  const newHash = () => {
    hashes += 1;
    return `0x${hashes.toString(16).padStart(64, '0')}`;
  };
  const newLink = async () => await shop.link({ customerId: await shop.customer() });
  const cancel = (id: string) =>
    cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode: 'live', id });
  const shownOf = async ({ token }: { token: string }) => {
    const { status, transactions, late_transactions: late } = await getPublicPayment(shop.deps, token);
    const of = (rows: typeof late) => rows.map(({ transaction_hash: hash }) => hash);
    return { status, transactions: of(transactions), late: of(late) };
  };
  const pending = { status: 'pending', transactions: [] };
  const lateOne = async () => {
    const link = await newLink();
    const hash = newHash();
    const inTime = new Date(shop.clock.now.getTime() + 3_500_000);
    shop.pass(3_700);
    const deposit = await shop.pay(link.customer_id, { coins: '25', hash });
    expect(await shownOf(link)).to.deep.equal({ ...pending, late: [hash] });
    const reorged = () => shop.move(deposit, 'failed', 'REORGED');
    const again = async (at = shop.clock.now) => await shop.pay(link.customer_id, { coins: '25', hash, at });
    return { link, inTime, hash, reorged, again };
  };

  it('is shown to its payer, once, and what became of it', async () => {
    const { link, hash, reorged, again } = await lateOne();
    const shown = async () =>
      (await getPublicPayment(shop.deps, link.token)).late_transactions.map((row) => [
        row.transaction_hash,
        row.status,
      ]);
    await reorged();
    expect(await shown()).to.deep.equal([[hash, 'failed']]);
    await again();
    expect(await shown(), 'mined again').to.deep.equal([[hash, 'completed']]);
  });

  for (const [name, pause, of] of [
    ['in time, and pays the link', undefined, 'first'],
    ['and pays another link', 100, 'other'],
  ] as const)
    it(`is late for one link alone where it is mined again ${name}`, async () => {
      const { link, inTime, hash, reorged, again } = await lateOne();
      const other = pause === undefined ? undefined : await shop.link({ customerId: link.customer_id });
      shop.pass(pause ?? 0);
      await reorged();
      await again(other ? shop.clock.now : inTime);
      const paid = { status: 'completed', transactions: [hash], late: [] };
      const nothing = { ...pending, late: [] };
      expect(await shownOf(link)).to.deep.equal(of === 'first' ? paid : nothing);
      if (other) expect(await shownOf(other)).to.deep.equal(paid);
    });

  it('is shown before dust, however much of that was sent before and after it', async () => {
    const link = await newLink();
    const fails = async (coins: string, code: 'MONTHLY_LIMIT' | 'BELOW_MINIMUM') => {
      shop.pass(1);
      const id = await shop.pay(link.customer_id, { coins, state: 'confirming' });
      await shop.move(id, 'failed', code);
    };
    await fails('0.001', 'BELOW_MINIMUM');
    await fails('25', 'MONTHLY_LIMIT');
    for (let dust = 0; dust < 20; dust += 1) await fails('0.001', 'BELOW_MINIMUM');
    const { transactions } = await getPublicPayment(shop.deps, link.token);
    expect(transactions.map(({ amount }) => amount))
      .to.include('25')
      .and.have.length(20);
    const { text } = standOf(await shop.view(link.id), shop.clock.now);
    expect(text).to.match(/^25 USDT: your monthly limit is used up/);
  });

  for (const coins of ['25', '30'])
    it(`is late for the link that it was sent for, and for no other one, where ${coins} are released too late`, async () => {
      const link = await newLink();
      const deposit = await shop.pay(link.customer_id, { coins, state: 'confirming' });
      await shop.move(deposit, 'failed', 'MONTHLY_LIMIT');
      const other = await shop.link({ customerId: link.customer_id });
      for (const { id } of [link, other]) await cancel(id);
      await shop.move(deposit, 'completed');
      expect((await shownOf(link)).late).to.have.length(1);
      const told = "select subject_id from events where type = 'payment.late' and subject_id in (?, ?)";
      expect(await shop.sql(told, [link.id, other.id])).to.deep.equal([{ subject_id: link.id }]);
    });

  it('is told although its payer has a new link before it is confirmed', async () => {
    const link = await newLink();
    shop.pass(3_700);
    const deposit = await shop.pay(link.customer_id, { coins: '25', state: 'confirming' });
    shop.pass(30);
    const other = await shop.link({ customerId: link.customer_id });
    await shop.move(deposit, 'completed');
    expect(await shop.view(link.id)).to.include({ amount_status: 'late', paid_amount_usd: 0 });
    expect((await shownOf(link)).late).to.have.length(1);
    expect(await shop.view(other.id)).to.include({ status: 'pending', amount_status: 'none' });
    const told = "select 1 from events where type = 'payment.late' and subject_id = ?";
    expect(await shop.sql(told, [link.id])).to.have.length(1);
  });

  it('makes its link late to the merchant too only while its block stands, for one link at a time', async () => {
    const { link, reorged, again } = await lateOne();
    const { id, customer_id: customerId } = link;
    const second = await shop.pay(customerId, { coins: '25' });
    await cancel(id);
    const amountStatus = async (linkId = id) => (await shop.view(linkId)).amount_status;
    await reorged();
    expect(await amountStatus(), 'the second stands').to.equal('late');
    await shop.move(second, 'failed', 'REORGED');
    expect(await amountStatus(), 'nothing stands').to.equal('none');
    const other = await shop.link({ customerId });
    shop.pass(100);
    await again();
    expect([await amountStatus(), await amountStatus(other.id)]).to.deep.equal(['none', 'exact']);
    shop.pass(10);
    for (const [state, expected] of [
      ['detected', 'none'],
      ['confirming', 'none'],
      ['completed', 'late'],
    ] as const) {
      await shop.move(second, state);
      expect(await amountStatus(), `once more ${state}`).to.equal(expected);
    }
  });

  it('leaves a link that it had paid to nobody once it fails, also where it is mined again', async () => {
    const hash = newHash();
    const link = await newLink();
    const money = { coins: '25', hash };
    const deposit = await shop.pay(link.customer_id, money);
    const paid = async () => isPaid(await getPublicPayment(shop.deps, link.token));
    expect(await paid()).to.equal(true);
    await shop.move(deposit, 'failed', 'REORGED');
    expect(await paid(), 'failed').to.equal(false);
    await shop.pay(link.customer_id, money);
    expect(await paid(), 'mined again').to.equal(false);
  });
});
