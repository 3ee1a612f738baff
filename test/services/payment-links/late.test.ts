import { expect } from 'chai';
import { cancelPaymentLink } from '../../../dev/support/use-cases.ts';
import { MIGRATIONS } from '../../../migrations/index.ts';
import { getPublicPayment } from '../../../src/services/payment-links/public.ts';
import { isLive } from '../../../src/web/checkout/followed.ts';
import { isPaid } from '../../../src/web/checkout/state.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const TABLE = 'Migration20261127000072_late_payments';

describe('a transaction that does not count for a payment link', function () {
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

  const shownOf = async ({ token }: { token: string }) => {
    const { status, transactions, late_transactions: late } = await getPublicPayment(shop.deps, token);
    const hashes = (rows: typeof late) => rows.map(({ transaction_hash: hash }) => hash);
    return { status, transactions: hashes(transactions), late: hashes(late) };
  };
  const lateOne = async (hash: string) => {
    const link = await shop.link({ customerId: await shop.customer() });
    const inTime = new Date(shop.clock.now.getTime() + 3_500_000);
    shop.pass(3_700);
    const deposit = await shop.pay(link.customer_id, { coins: '25', hash });
    expect(await shownOf(link)).to.deep.equal({ status: 'pending', transactions: [], late: [hash] });
    return { link, inTime, deposit };
  };

  it('is not called late any more where it is mined again in time, and pays the link', async () => {
    const hash = `0x${'3c'.repeat(32)}`;
    const { link, inTime, deposit } = await lateOne(hash);
    await shop.move(deposit, 'failed', 'REORGED');
    await shop.pay(link.customer_id, { coins: '25', hash, at: inTime });
    expect(await shownOf(link)).to.deep.equal({ status: 'completed', transactions: [hash], late: [] });
  });

  it('is not called late any more where it is mined again and pays another link', async () => {
    const hash = `0x${'4d'.repeat(32)}`;
    const { link, deposit } = await lateOne(hash);
    const other = await shop.link({ customerId: link.customer_id });
    shop.pass(100);
    await shop.move(deposit, 'failed', 'REORGED');
    await shop.pay(link.customer_id, { coins: '25', hash });
    expect(await shownOf(other)).to.deep.equal({ status: 'completed', transactions: [hash], late: [] });
    expect(await shownOf(link)).to.deep.equal({ status: 'pending', transactions: [], late: [] });
  });

  it('is late for one link alone, also where another one has ended before it is mined again', async () => {
    const hash = `0x${'5e'.repeat(32)}`;
    const { link, deposit } = await lateOne(hash);
    const other = await shop.link({ customerId: link.customer_id });
    shop.pass(3_700);
    await shop.move(deposit, 'failed', 'REORGED');
    await shop.pay(link.customer_id, { coins: '25', hash });
    expect(await shownOf(other)).to.deep.equal({ status: 'pending', transactions: [], late: [hash] });
    expect(await shownOf(link)).to.deep.equal({ status: 'pending', transactions: [], late: [] });
  });

  it('is followed on the page of a link that has ended while it waits once more', async () => {
    const hash = `0x${'6f'.repeat(32)}`;
    const { link, deposit } = await lateOne(hash);
    await shop.move(deposit, 'failed', 'REORGED');
    shop.pass(3_600);
    await cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode: 'live', id: link.id });
    expect(isLive(await getPublicPayment(shop.deps, link.token))).to.equal(false);
    await shop.pay(link.customer_id, { coins: '25', hash, state: 'detected' });
    expect(isLive(await getPublicPayment(shop.deps, link.token))).to.equal(true);
  });

  it('is told although its payer has a new link before it is confirmed', async () => {
    const link = await shop.link({ customerId: await shop.customer() });
    shop.pass(3_700);
    const deposit = await shop.pay(link.customer_id, { coins: '25', state: 'confirming' });
    shop.pass(30);
    const other = await shop.link({ customerId: link.customer_id });
    await shop.move(deposit, 'completed');
    expect(await shop.view(link.id)).to.include({ amount_status: 'late', paid_amount_usd: 0 });
    expect((await shownOf(link)).late).to.have.length(1);
    expect(await shop.view(other.id)).to.include({ status: 'pending', amount_status: 'none' });
    const told = await shop.sql("select 1 from events where type = 'payment.late' and subject_id = ?", [
      link.id,
    ]);
    expect(told).to.have.length(1);
  });

  it('makes its link late to the merchant too only while its block stands, for one link at a time', async () => {
    const hash = `0x${'7a'.repeat(32)}`;
    const { link, deposit } = await lateOne(hash);
    const { id, customer_id: customerId } = link;
    const second = await shop.pay(customerId, { coins: '25' });
    await cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode: 'live', id });
    const amountStatus = async (linkId: string) => (await shop.view(linkId)).amount_status;
    await shop.move(deposit, 'failed', 'REORGED');
    expect(await amountStatus(id), 'the second stands').to.equal('late');
    await shop.move(second, 'failed', 'REORGED');
    expect(await amountStatus(id), 'nothing stands').to.equal('none');
    const other = await shop.link({ customerId });
    shop.pass(100);
    await shop.pay(customerId, { coins: '25', hash });
    expect([await amountStatus(id), await amountStatus(other.id)]).to.deep.equal(['none', 'exact']);
    shop.pass(10);
    await shop.move(second, 'detected');
    expect(await amountStatus(id), 'it waits once more').to.equal('none');
    await shop.move(second, 'confirming');
    await shop.move(second, 'completed');
    expect(await amountStatus(id), 'it is confirmed once more').to.equal('late');
  });

  it('leaves a link that it had paid paid to nobody once it fails, also where it is mined again', async () => {
    const hash = `0x${'8b'.repeat(32)}`;
    const link = await shop.link({ customerId: await shop.customer() });
    const deposit = await shop.pay(link.customer_id, { coins: '25', hash });
    const paid = async () => isPaid(await getPublicPayment(shop.deps, link.token));
    expect(await paid()).to.equal(true);
    await shop.move(deposit, 'failed', 'REORGED');
    expect(await paid(), 'failed').to.equal(false);
    await shop.pay(link.customer_id, { coins: '25', hash });
    expect(await paid(), 'mined again').to.equal(false);
  });

  it('leaves a link that it had paid in part paid to nobody once it fails, also where it is mined again', async () => {
    const hash = `0x${'8d'.repeat(32)}`;
    const link = await shop.link({ customerId: await shop.customer() });
    await shop.pay(link.customer_id, { coins: '10' });
    const deposit = await shop.pay(link.customer_id, { coins: '15', hash });
    const paid = async () => isPaid(await getPublicPayment(shop.deps, link.token));
    expect(await paid()).to.equal(true);
    await shop.move(deposit, 'failed', 'REORGED');
    expect(await paid(), 'failed').to.equal(false);
    await shop.pay(link.customer_id, { coins: '15', hash });
    expect(await paid(), 'mined again').to.equal(false);
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

  it('is known of before it had a table of its own, by what was told of it', async () => {
    const hash = `0x${'7a'.repeat(32)}`;
    const { link } = await lateOne(hash);
    const { migrator } = shop.deps.orm;
    await migrator.down({
      to: MIGRATIONS.at(MIGRATIONS.findIndex(({ name }) => name === TABLE) - 1)?.name ?? '',
    });
    await migrator.up();
    expect(await shownOf(link)).to.deep.equal({ status: 'pending', transactions: [], late: [hash] });
  });
});
