import { expect } from 'chai';
import {
  createEndpoint,
  createPaymentLink,
  deleteEndpoint,
  simulateDeposit,
  updateEndpoint,
} from '../../../dev/support/use-cases.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { parseUnits } from '../../../src/domain/money.ts';
import type { NewPaymentLink } from '../../../src/services/payment-links/create.ts';
import { gatheredPayments, getPublicPayment } from '../../../src/services/payment-links/public.ts';
import { getPaymentLink } from '../../../src/services/payment-links/reads.ts';
import type { AmountTooSmall, Refusal } from '../../../src/services/refusal.ts';
import { getEndpoint, listEndpoints } from '../../../src/services/webhooks/endpoints.ts';
import { getEvent, listDeliveries } from '../../../src/services/webhooks/reads.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { refusalOf } from '../../support/refusals.ts';
import { statementsOf } from '../../support/statements.ts';

describe('a payment link', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop({ poolSize: 30 });
  });
  after(() => shop?.stop());

  const terms = (more: Partial<NewPaymentLink>): NewPaymentLink => ({
    merchantId: shop.merchantId,
    mode: 'live',
    amountCents: 2_500n,
    publicUrl: 'https://pay.example',
    email: 'jane@example.com',
    ...more,
  });
  const refused = async (more: Partial<NewPaymentLink>): Promise<Refusal> => {
    const before = await shop.sql('select id from payment_links');
    const refusal = await refusalOf(createPaymentLink(shop.deps, terms(more)));
    expect(await shop.sql('select id from payment_links')).to.have.length(before.length);
    return refusal;
  };
  const methodsOf = async ({ token }: { token: string }) =>
    (await getPublicPayment(shop.deps, token)).methods;

  it('shows what was asked for, an hour to pay it, and a token that nobody can guess', async () => {
    const { link, webhookSecret } = await createPaymentLink(
      shop.deps,
      terms({
        description: 'Order 1',
        externalId: 'o-1',
        metadata: { a: 1 },
        successUrl: 'https://shop.example/ok',
      }),
    );
    expect(webhookSecret).to.match(/^whsec_/);
    expect(link).to.deep.include({
      status: 'pending',
      amount_status: 'none',
      amount_usd: 25,
      remaining_amount_usd: 25,
      description: 'Order 1',
      external_id: 'o-1',
      metadata: { a: 1 },
      success_url: 'https://shop.example/ok',
      email: 'jane@example.com',
      expires_at: '2026-11-20T10:00:00Z',
      is_live: true,
    });
    expect(link.token).to.match(/^pl_[A-Za-z0-9]{33}$/);
    expect(link.url).to.equal(`https://pay.example/pay/${link.token}`);
    expect(await shop.view(link.id)).to.deep.equal(link);
  });

  it("has the database's times, by which blocks are judged, whatever this process takes the time for", async () => {
    const stored = new Date('2026-11-20T08:50:00Z');
    const { link } = await createPaymentLink({ ...shop.deps, storedNow: async () => stored }, terms({}));
    expect(link).to.include({ created_at: '2026-11-20T08:50:00Z', expires_at: '2026-11-20T09:50:00Z' });
  });

  it('is paid by a simulation, whatever this process takes the time for', async () => {
    const customerId = await shop.customer('test');
    const stored = new Date(shop.clock.now.getTime() + 600_000);
    const deps = { ...shop.deps, storedNow: async () => stored };
    const { link } = await createPaymentLink(deps, terms({ mode: 'test', customerId }));
    const { merchantId } = shop;
    const money = { network: 'bsc', currency: 'USDT', amountUnits: parseUnits('25', 18) } as const;
    const ends = { outcome: 'completed', events: 'final' } as const;
    await simulateDeposit(deps, { merchantId, customerId, ...money, ...ends, paymentToken: link.token });
    expect((await shop.view(link.id, 'test')).status).to.equal('completed');
  });

  it('makes one customer for many parallel links with one new email, and tells of it once', async () => {
    const email = 'New.One@example.com';
    const made = await Promise.all(Array.from({ length: 25 }, () => shop.link({ email })));
    const id = made[0]?.customer_id;
    expect(new Set(made.map((link) => link.customer_id)).size).to.equal(1);
    expect(new Set(made.map((link) => link.token)).size).to.equal(25);
    for (const [text, value, count] of [
      ['select id from customers where email = ?', email, 1],
      ["select id from events where type = 'customer.created' and subject_id = ?", id, 1],
      ['select id from deposit_addresses where customer_id = ?', id, 2],
    ] as const)
      expect(await shop.sql(text, [value]), text).to.have.length(count);
  });

  it('is for the customer of the id or email within its merchant and mode, and for nobody of another', async () => {
    const [customerId, email] = [await shop.customer(), 'twin@example.com'];
    expect((await shop.link({ customerId })).customer_id).to.equal(customerId);
    const { id: merchantId } = await shop.api.newMerchant();
    for (const foreign of [{ merchantId }, { mode: 'test' as const }, { customerId: 'nonsense' }])
      expect((await refused({ customerId, ...foreign })).code).to.equal('NOT_FOUND');
    const twins = [
      await shop.link({ email }),
      await shop.link({ email, mode: 'test' }),
      await shop.link({ email, merchantId }),
    ];
    expect(new Set(twins.map((link) => link.customer_id)).size).to.equal(3);
  });

  it('is refused below the minimum, which it names, above a million, and without anybody to pay it', async () => {
    const small = await refused({ amountCents: 499n });
    expect(small.code).to.equal('AMOUNT_TOO_SMALL');
    expect((small as AmountTooSmall).minimumCents).to.equal(500n);
    expect((await shop.link({ usd: '1000000', email: 'a@b.example' })).amount_usd).to.equal(1_000_000);
    expect((await refused({ amountCents: 100_000_001n })).field).to.equal('amount_usd');
    expect((await refused({ email: undefined })).field).to.equal('email');
  });

  it('has an own webhook URL under the rule of endpoints, with a secret of its own, in no list of endpoints', async () => {
    expect((await refused({ webhookUrl: 'https://10.0.0.1/hook' })).field).to.equal('webhook_url');
    const own = { email: 'own-url@example.com', webhookUrl: 'http://127.0.0.1:9/hook' };
    const { link, webhookSecret } = await createPaymentLink(shop.deps, terms(own));
    expect(link.webhook_url).to.equal('http://127.0.0.1:9/hook');
    const [row] = await shop.sql<{ secret_sealed: Buffer; id: string }>(
      'select * from webhook_endpoints where payment_link_id = ?',
      [link.id],
    );
    expect(row && shop.deps.secretBox.open(row.secret_sealed, link.id)).to.equal(webhookSecret);
    const scope = { merchantId: shop.merchantId, mode: 'live' as const };
    const page = { limit: 25 };
    expect((await listEndpoints(shop.deps, { ...scope, page })).rows).to.deep.equal([]);
    const url = 'http://127.0.0.1:9/all';
    const all = await createEndpoint(shop.deps, { ...scope, url, events: ['*'], description: null });
    await shop.customer();
    const toOwn = 'select id from webhook_deliveries where endpoint_id = ?';
    expect(await shop.sql(toOwn, [link.id]), 'of what happens otherwise').to.deep.equal([]);
    const { transactionHash } = await shop.deposit(await shop.pay(link.customer_id, { coins: '25' }));
    const [sent] = (await listDeliveries(shop.deps, { ...scope, id: link.id, page })).rows;
    expect(sent).to.include({ endpoint_id: link.id, event: 'payment.completed', status: 'pending' });
    const event = await getEvent(shop.deps, { ...scope, id: String(sent?.event_id) });
    expect(event.deliveries.map((one) => one.endpoint_id)).to.have.members([link.id, all.id]);
    const paid = { token: link.token, paid_network: 'bsc', status: 'completed' };
    expect(event.data).to.deep.include({ ...paid, transaction_hash: transactionHash });
    expect(event.data).to.deep.equal(await getPaymentLink(shop.deps, { ...scope, id: link.id }));
    // The URL is no endpoint otherwise.
    for (const work of [getEndpoint, deleteEndpoint, updateEndpoint])
      expect((await refusalOf(work(shop.deps, { ...scope, id: link.id }))).code).to.equal('NOT_FOUND');
  });

  describe('as its payer sees it', () => {
    it('shows where and how much to pay on every network, and nothing of the merchant but the name', async () => {
      const link = await shop.link({
        email: 'payer@example.com',
        usd: '12.30',
        metadata: { secret: 'm' },
        webhookUrl: 'http://127.0.0.1:9/',
      });
      const view = await getPublicPayment(shop.deps, link.token);
      expect(view).to.deep.include({
        token: link.token,
        status: 'pending',
        amount_usd: 12.3,
        merchant: { name: 'Shop' },
        is_live: true,
      });
      const [bsc, tron] = view.methods;
      expect(bsc).to.include({
        network: 'bsc',
        currency: 'USDT',
        decimals: 18,
        amount: '12.3',
        required_confirmations: 15,
      });
      expect(tron).to.include({ network: 'tron', decimals: 6, amount: '12.3', required_confirmations: 19 });
      expect(bsc?.payment_uri).to.equal(
        `ethereum:0x55d398326f99059fF775485246999027B3197955@56/transfer?address=${bsc?.address}&uint256=12300000000000000000`,
      );
      expect(tron?.payment_uri).to.equal(
        `tron:${tron?.address}?amount=12.3&token=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t`,
      );
      const text = JSON.stringify(view);
      for (const hidden of [link.id, link.customer_id, 'payer@', 'secret', '127.0.0.1', shop.merchantId])
        expect(text).to.not.include(hidden);
    });

    it('is offered in live mode on what is watched now, in test mode on both, or on the network that was chosen', async () => {
      const settings = shop.deps.settings.payments;
      const watching = (...watchedNetworks: Network[]) => Object.assign(settings, { watchedNetworks });
      const networks = async (link: { token: string }) =>
        (await methodsOf(link)).map(({ network }) => network);
      const [customerId, email] = [await shop.customer(), 'p@example.com'];
      const chosen = await shop.link({ customerId, network: 'tron' });
      const [live, test] = [await shop.link({ customerId }), await shop.link({ email, mode: 'test' })];
      expect(await networks(chosen)).to.deep.equal(['tron']);
      for (const watched of [['bsc'], ['tron', 'bsc'], []] as const) {
        watching(...watched);
        expect(await networks(live)).to.deep.equal(watched.toSorted());
        expect(await networks(test)).to.deep.equal(['bsc', 'tron']);
      }
      for (const [network, setting] of [
        ['tron', 'TRON_API_URLS'],
        ['bsc', 'BSC_RPC_URLS'],
      ] as const) {
        const refusal = await refused({ customerId, network });
        expect(refusal).to.include({ code: 'INVALID', field: 'network' });
        expect(refusal.message).to.include(`set ${setting} first`);
      }
      watching('bsc', 'tron');
    });

    it('asks for the rest only, and for nothing while what was seen covers it or once its time is over', async () => {
      const link = await shop.link({ customerId: await shop.customer() });
      const amounts = async () => (await methodsOf(link)).map((method) => method.amount);
      await shop.pay(link.customer_id, { coins: '10.0000000000001' });
      expect(await amounts()).to.deep.equal(['14.9999999999999', '15']);
      const open = await shop.pay(link.customer_id, { coins: '15', state: 'detected' });
      expect(await amounts()).to.deep.equal([]);
      await shop.move(open, 'failed', 'REORGED');
      expect(await amounts()).to.deep.equal(['14.9999999999999', '15']);
      shop.pass(3_600);
      expect(await amounts()).to.have.length(2);
      shop.pass(1);
      expect(await amounts()).to.deep.equal([]);
    });

    it('is read together with others that are asked for at once', async () => {
      const links = [
        await shop.link({ customerId: await shop.customer() }),
        await shop.link({ customerId: await shop.customer() }),
      ];
      const deps = { ...shop.deps, publicPayment: gatheredPayments(shop.deps) };
      const sent = await statementsOf(shop.deps.orm);
      const tokens = [...links, ...links].map(({ token }) => token);
      const views = await Promise.all(tokens.map((token) => getPublicPayment(deps, token)));
      expect(views.map(({ token }) => token)).to.deep.equal(tokens);
      expect(
        sent.filter((text) => /from "?payment_links"? /.test(text) && /token/.test(text)),
      ).to.have.length(1);
      expect(await refusalOf(getPublicPayment(deps, 'pl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'))).to.include({
        code: 'NOT_FOUND',
      });
    });

    it('is not there under an unknown or malformed token, always in the same words', async () => {
      for (const token of ['pl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', '', '../etc', 'pl_\0'])
        expect(await refusalOf(getPublicPayment(shop.deps, token))).to.include({
          code: 'NOT_FOUND',
          message: 'There is no such payment link.',
        });
    });
  });
});
