import { expect } from 'chai';
import {
  createEndpoint,
  createPaymentLink,
  deleteEndpoint,
  resendDelivery,
  updateEndpoint,
} from '../../../dev/support/use-cases.ts';
import type { NewPaymentLink } from '../../../src/services/payment-links/create.ts';
import { getPublicPayment } from '../../../src/services/payment-links/public.ts';
import { getPaymentLink, listPaymentLinks } from '../../../src/services/payment-links/reads.ts';
import { type AmountTooSmall, Refusal } from '../../../src/services/refusal.ts';
import { getEndpoint, listEndpoints } from '../../../src/services/webhooks/endpoints.ts';
import { getEvent, listDeliveries } from '../../../src/services/webhooks/reads.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('a payment link', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop({ poolSize: 30 });
  });
  after(async () => {
    await shop?.stop();
  });

  const terms = (more: Partial<NewPaymentLink>): NewPaymentLink => ({
    merchantId: shop.merchantId,
    mode: 'live',
    amountCents: 2_500n,
    publicUrl: 'https://pay.example',
    email: 'jane@example.com',
    ...more,
  });
  const refusalOf = async (more: Partial<NewPaymentLink>): Promise<Refusal> => {
    const before = await shop.sql('select id from payment_links');
    const error = await createPaymentLink(shop.deps, terms(more)).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    expect(error).to.be.instanceOf(Refusal);
    expect(await shop.sql('select id from payment_links')).to.have.length(before.length);
    return error as Refusal;
  };

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
      currency: 'USDT',
      paid_amount_usd: 0,
      remaining_amount_usd: 25,
      overpaid_amount_usd: 0,
      description: 'Order 1',
      external_id: 'o-1',
      metadata: { a: 1 },
      success_url: 'https://shop.example/ok',
      cancel_url: null,
      email: 'jane@example.com',
      webhook_url: null,
      paid_network: null,
      transaction_hash: null,
      transactions: [],
      created_at: '2026-11-20T09:00:00Z',
      expires_at: '2026-11-20T10:00:00Z',
      completed_at: null,
      is_live: true,
    });
    expect(link.token).to.match(/^pl_[A-Za-z0-9_-]{32}$/);
    expect(link.url).to.equal(`https://pay.example/pay/${link.token}`);
    expect(await shop.view(link.id)).to.deep.equal(link);
  });

  it('makes one customer for a hundred parallel links with one new email, and tells of it once', async () => {
    const made = await Promise.all(
      Array.from(
        { length: 100 },
        async () => (await createPaymentLink(shop.deps, terms({ email: 'New.One@example.com' }))).link,
      ),
    );
    expect(new Set(made.map((link) => link.customer_id)).size).to.equal(1);
    expect(new Set(made.map((link) => link.token)).size).to.equal(100);
    expect(
      await shop.sql('select id from customers where email = ?', ['New.One@example.com']),
    ).to.have.length(1);
    const events = await shop.sql(
      "select id from events where type = 'customer.created' and subject_id = ?",
      [made[0]?.customer_id],
    );
    expect(events).to.have.length(1);
    expect(
      await shop.sql('select id from deposit_addresses where customer_id = ?', [made[0]?.customer_id]),
    ).to.have.length(2);
  });

  it('is for the customer of the id, and for no customer of another merchant or mode', async () => {
    const customerId = await shop.customer();
    expect((await shop.link({ customerId })).customer_id).to.equal(customerId);
    const other = await shop.api.newMerchant();
    for (const foreign of [{ merchantId: other.id }, { mode: 'test' as const }, { customerId: 'nonsense' }])
      expect((await refusalOf({ customerId, ...foreign })).code).to.equal('NOT_FOUND');
  });

  it('keeps one email apart for each mode and merchant', async () => {
    const email = 'twin@example.com';
    const other = await shop.api.newMerchant();
    const ids = [
      await shop.link({ email }),
      await shop.link({ email, mode: 'test' }),
      await shop.link({ email, merchantId: other.id }),
    ];
    expect(new Set(ids.map((link) => link.customer_id)).size).to.equal(3);
  });

  it('is refused below the minimum, which it names, above a million, and without anybody to pay it', async () => {
    const small = await refusalOf({ amountCents: 499n });
    expect(small.code).to.equal('AMOUNT_TOO_SMALL');
    expect((small as AmountTooSmall).minimumCents).to.equal(500n);
    expect((await shop.link({ usd: '5', email: 'a@b.example' })).amount_usd).to.equal(5);
    expect((await shop.link({ usd: '1000000', email: 'a@b.example' })).amount_usd).to.equal(1_000_000);
    expect((await refusalOf({ amountCents: 100_000_001n })).field).to.equal('amount_usd');
    expect((await refusalOf({ email: undefined })).field).to.equal('email');
  });

  it('has an own webhook URL under the rule of endpoints, with a secret of its own, in no list of endpoints', async () => {
    expect((await refusalOf({ webhookUrl: 'https://10.0.0.1/hook' })).field).to.equal('webhook_url');
    const { link, webhookSecret } = await createPaymentLink(
      shop.deps,
      terms({ email: 'own-url@example.com', webhookUrl: 'http://127.0.0.1:9/hook' }),
    );
    expect(webhookSecret).to.match(/^whsec_/);
    expect(link.webhook_url).to.equal('http://127.0.0.1:9/hook');
    const [row] = await shop.sql<{ secret_sealed: Buffer; id: string }>(
      'select * from webhook_endpoints where payment_link_id = ?',
      [link.id],
    );
    expect(row && shop.deps.secretBox.open(row.secret_sealed, link.id)).to.equal(webhookSecret);
    const scope = { merchantId: shop.merchantId, mode: 'live' as const };
    expect((await listEndpoints(shop.deps, { ...scope, page: { limit: 25 } })).rows).to.deep.equal([]);
    const everything = await createEndpoint(shop.deps, {
      ...scope,
      url: 'http://127.0.0.1:9/all',
      events: ['*'],
      description: null,
    });
    // What happens otherwise does not go to the link's own URL.
    await shop.customer();
    expect(
      await shop.sql('select id from webhook_deliveries where endpoint_id = ?', [link.id]),
    ).to.deep.equal([]);
    const paid = await shop.pay(link.customer_id, { coins: '25' });
    const sent = await shop.sql<{ endpoint_id: string; event_id: string; event_type: string }>(
      "select * from webhook_deliveries where event_type = 'payment.completed'",
    );
    expect(sent.map((one) => one.endpoint_id)).to.have.members([link.id, everything.id]);
    const event = await getEvent(shop.deps, { ...scope, id: String(sent[0]?.event_id) });
    expect(event.deliveries).to.have.length(2);
    const { transactionHash } = await shop.deposit(paid);
    expect(event.data).to.deep.include({
      token: link.token,
      paid_network: 'bsc',
      transaction_hash: transactionHash,
      status: 'completed',
    });
    expect(event.data).to.not.have.property('webhook_secret');
    await expectResendable(link.id);
    expect(event.data).to.deep.equal(await getPaymentLink(shop.deps, { ...scope, id: link.id }));
  });

  /** What went to the link's own URL can be read and sent again, and the URL is no endpoint otherwise. */
  async function expectResendable(id: string): Promise<void> {
    const scope = { merchantId: shop.merchantId, mode: 'live' as const, id };
    const [sent] = (await listDeliveries(shop.deps, { ...scope, page: { limit: 25 } })).rows;
    expect(sent).to.include({ endpoint_id: id, event: 'payment.completed', status: 'pending' });
    await shop.sql("update webhook_deliveries set status = 'failed', finished_at = now() where id = ?", [
      sent?.id,
    ]);
    expect((await resendDelivery(shop.deps, { ...scope, id: String(sent?.id) })).status).to.equal('pending');
    for (const work of [getEndpoint, deleteEndpoint, updateEndpoint])
      expect(await work(shop.deps, scope).catch((error: Refusal) => error.code)).to.equal('NOT_FOUND');
  }

  it('is found by state, customer, time and any part of its words', async () => {
    const other = await shop.api.newMerchant();
    const scope = { merchantId: other.id, mode: 'live' as const };
    const one = await shop.link({
      ...scope,
      email: 'find-me@example.com',
      description: 'Blue 100% wool',
      externalId: 'A-77',
    });
    const two = await shop.link({ ...scope, email: 'other@example.com' });
    const found = async (filters: object) =>
      (await listPaymentLinks(shop.deps, { ...scope, ...filters, page: { limit: 25 } })).rows.map(
        (row) => row.id,
      );
    expect(await found({})).to.have.members([one.id, two.id]);
    for (const search of ['BLUE', '100%', 'a-77', 'find-ME', one.token.slice(5, 20)])
      expect(await found({ search }), search).to.deep.equal([one.id]);
    expect(await found({ customerId: two.customer_id })).to.deep.equal([two.id]);
    expect(await found({ status: 'completed' })).to.deep.equal([]);
    expect(await found({ createdFrom: new Date(shop.clock.now.getTime() + 5_000) })).to.deep.equal([]);
    const hidden = await getPaymentLink(shop.deps, {
      merchantId: shop.merchantId,
      mode: 'live',
      id: one.id,
    }).catch((error: Refusal) => error.code);
    expect(hidden).to.equal('NOT_FOUND');
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
      for (const hidden of [
        link.id,
        link.customer_id,
        'payer@example.com',
        'secret',
        '127.0.0.1',
        shop.merchantId,
      ])
        expect(text).to.not.include(hidden);
    });

    it('lists only the network that the merchant chose', async () => {
      const { token } = await shop.link({ email: 'p@example.com', network: 'tron' });
      expect(
        (await getPublicPayment(shop.deps, token)).methods.map((method) => method.network),
      ).to.deep.equal(['tron']);
    });

    it('asks for the rest only, and for nothing while what was seen covers it or once its time is over', async () => {
      const link = await shop.link({ customerId: await shop.customer() });
      const amounts = async () =>
        (await getPublicPayment(shop.deps, link.token)).methods.map((method) => method.amount);
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

    it('is not there under an unknown or malformed token, always in the same words', async () => {
      const answers = [];
      for (const token of ['pl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', '', '../etc', 'x'.repeat(5_000), 'pl_\0'])
        answers.push(
          await getPublicPayment(shop.deps, token).catch(
            (error: Refusal) => `${error.code} ${error.message}`,
          ),
        );
      expect(new Set(answers)).to.deep.equal(new Set(['NOT_FOUND There is no such payment link.']));
    });
  });
});
