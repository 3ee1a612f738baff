import { expect } from 'chai';
import { simulateDeposit } from '../../../dev/support/use-cases.ts';
import { advancePaymentLink, type LinkStep } from '../../../src/services/payment-links/advance.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const HOUR_S = 3_600;

describe('the expiry of a payment link', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    const payments = { minimumCents: 500n, toleranceBasisPoints: 50n, watchedNetworks: ['bsc' as const] };
    shop = await startShop({ settings: { payments } });
  });
  after(() => shop?.stop());
  beforeEach(async () => {
    await shop.sql('delete from chain_cursors');
    await shop.sql('delete from chain_blocks');
  });

  const look = (id: string) => advancePaymentLink(shop.deps, { linkId: id });
  const stepOf = async <K extends LinkStep['kind']>(kind: K, id: string) => {
    const step = await look(id);
    if (step.kind !== kind) throw new Error(JSON.stringify(step));
    return step as LinkStep & { kind: K };
  };
  const at = async (id: string) => await stepOf('at', id);
  const watching = (...watchedNetworks: 'bsc'[]) => {
    const { settings } = shop.deps;
    return { ...shop.deps, settings: { ...settings, payments: { ...settings.payments, watchedNetworks } } };
  };
  const newLink = async () => await shop.link({ customerId: await shop.customer() });

  it('is slept for until the very moment, which still belongs to the link', async () => {
    const link = await newLink();
    expect(await at(link.id)).to.include({
      status: 'pending',
      waitMs: HOUR_S * 1_000 + 1,
      note: `0 of 25 USDT, expires at ${link.expires_at}`,
    });
    shop.pass(HOUR_S);
    await shop.scanned('bsc', new Date(shop.clock.now.getTime() + 60_000));
    expect((await at(link.id)).status).to.equal('pending');
    shop.pass(1);
    expect(await at(link.id)).to.include({ status: 'expired', waitMs: null });
    expect(await shop.view(link.id)).to.include({ status: 'expired', amount_status: 'none' });
    expect(await at(link.id)).to.include({ status: 'expired', waitMs: null });
  });

  it('waits until every followed chain was read past it, and says for what', async () => {
    const link = await newLink();
    const expiry = new Date(link.expires_at);
    shop.pass(HOUR_S + 600);
    expect((await stepOf('wait', link.id)).reason).to.match(
      /^0 of 25 USDT; expires when bsc was read past .*it is not watched yet: start a worker$/,
    );
    await shop.scanned('bsc', expiry);
    const { reason, delayMs } = await stepOf('wait', link.id);
    expect(reason).to.include(`it is read up to ${link.expires_at}`);
    expect(delayMs).to.be.within(1_000, 60_000);
    // Money that was mined in time and is found only now.
    await shop.pay(link.customer_id, { coins: '25', at: expiry });
    expect((await at(link.id)).status).to.equal('completed');
  });

  it('is held by a chain that was offered and is switched off, and says what to set', async () => {
    const link = await newLink();
    shop.pass(HOUR_S + 1);
    const step = await advancePaymentLink(watching(), { linkId: link.id });
    expect(step.kind === 'wait' && step.reason).to.match(
      /it was offered and is switched off: set BSC_RPC_URLS and start a worker$/,
    );
    await shop.scanned('bsc', shop.clock.now);
    expect(await advancePaymentLink(watching(), { linkId: link.id })).to.include({ status: 'expired' });
  });

  it('waits for money on its way that came in time, and counts it', async () => {
    const [paid, short] = [await newLink(), await newLink()];
    const deposit = await shop.pay(paid.customer_id, { coins: '25', state: 'confirming' });
    const part = await shop.pay(short.customer_id, { coins: '20', state: 'confirming' });
    shop.pass(2 * HOUR_S);
    await shop.scanned('bsc', shop.clock.now);
    for (const { id } of [paid, short])
      expect(await at(id)).to.include({ status: 'processing', waitMs: HOUR_S * 1_000 });
    await shop.move(deposit, 'completed');
    await shop.move(part, 'completed');
    expect((await at(paid.id)).status).to.equal('completed');
    expect((await at(short.id)).status).to.equal('expired');
    expect(await shop.view(short.id)).to.include({
      amount_status: 'underpaid',
      paid_amount_usd: 20,
      remaining_amount_usd: 5,
    });
  });

  it('asks no chain in test mode, and waits for no simulated deposit that rests', async () => {
    const customerId = await shop.customer('test');
    const link = await shop.link({ customerId, mode: 'test' });
    const money = { network: 'bsc', currency: 'USDT', amountUnits: 10n ** 18n } as const;
    const rests = { outcome: 'detected', events: 'final' } as const;
    await simulateDeposit(shop.deps, { merchantId: shop.merchantId, customerId, ...money, ...rests });
    expect((await shop.view(link.id, 'test')).status).to.equal('processing');
    shop.pass(HOUR_S + 1);
    expect((await at(link.id)).status).to.equal('expired');
  });

  it('and the last payment at the same moment leave one of two whole outcomes', async () => {
    const links = await Promise.all(Array.from({ length: 8 }, newLink));
    const paidAt = shop.clock.now;
    shop.pass(HOUR_S + 60);
    await shop.scanned('bsc', shop.clock.now);
    for (const link of links) {
      const [, deposit] = await Promise.all([
        look(link.id),
        shop.pay(link.customer_id, { coins: '25', at: paidAt }),
      ]);
      await look(link.id);
      const paid = (await shop.linkOf(deposit)) !== null;
      expect(await shop.view(link.id)).to.include(
        paid ? { status: 'completed', amount_status: 'exact' } : { status: 'expired', amount_status: 'late' },
      );
    }
  });
});
