import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createCustomer, createPaymentLink } from '../../../dev/support/use-cases.ts';
import { barriers } from '../../support/http/axe.ts';
import { overflowOf, readText } from '../../support/http/browser.ts';
import { openDashboard, unexpected } from '../../support/http/dashboard.ts';
import { errorAt, signedInPages } from '../../support/http/pages.ts';
import { browserStage } from '../../support/http/stage.ts';

describe('simulations in the dashboard', function () {
  this.timeout(60_000);
  const the = browserStage();

  const depositsOf = (merchantId: string) =>
    the.api.deps.orm.em.fork().execute<Record<string, unknown>[]>(
      `select id, network, currency, amount_units, status, mode, payment_link_id from deposits
         where merchant_id = ? order by created_at`,
      [merchantId],
    );
  const newCustomer = (merchantId: string, mode: 'live' | 'test', name: string) =>
    createCustomer(the.api.deps, {
      merchantId,
      mode,
      externalId: randomUUID(),
      email: null,
      name,
      metadata: {},
    });

  it('make a deposit of a chosen customer, coin, amount and outcome', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, {
      merchantId,
      path: '/dashboard/test/simulate',
      viewport: { width: 320, height: 640 },
    });
    const { page, context } = signedIn;
    expect(await readText(page.locator('main'))).to.include('There is no test customer yet');
    expect(await barriers(page)).to.deep.equal([]);
    await newCustomer(merchantId, 'test', '<b>Ann</b>');
    await newCustomer(merchantId, 'live', 'Only live');
    await page.reload();
    expect(await readText(page.getByLabel('Customer')))
      .to.include('<b>Ann</b>')
      .and.not.to.include('Only live');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).to.deep.equal([]);
    }
    expect(await overflowOf(page)).to.equal(0);
    await page.getByLabel('What arrives').selectOption({ index: 2 });
    await page.getByLabel('Amount, in coins').fill('1.23456789');
    await page.getByRole('button', { name: 'Simulate the deposit' }).click();
    expect(await readText(page.locator('#amount-error'))).to.equal('Must have at most 6 decimals.');
    await page.getByLabel('Amount, in coins').fill('1.234567');
    await page.getByLabel('Where it ends').selectOption('Waiting for confirmations');
    await page.getByLabel('What your endpoints are told').selectOption('Every state on the way');
    await page.getByRole('button', { name: 'Simulate the deposit' }).click();
    await page.waitForURL(/\/deposits\//);
    const [deposit] = await depositsOf(merchantId);
    expect(deposit).to.include({
      network: 'tron',
      currency: 'TRX',
      amount_units: '1234567',
      status: 'confirming',
      mode: 'test',
    });
    expect(new URL(page.url()).pathname).to.equal(`/dashboard/test/deposits/${deposit?.['id']}`);
    await context.close();
    expect(unexpected(signedIn, 400, 404)).to.deep.equal([]);
  });

  it('pay the payment link that they are begun from', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const { link } = await createPaymentLink(the.api.deps, {
      merchantId,
      mode: 'test',
      email: 'ann@example.com',
      amountCents: 2_550n,
      publicUrl: the.api.origin,
    });
    const pages = await signedInPages(the.api, merchantId);
    const { text } = await pages.get(`/dashboard/test/links/${link.id}`);
    const way = /href="(\/dashboard\/test\/simulate\?[^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const shown = await pages.get(way);
    expect(shown.text).to.include(`value="${link.token}"`).and.to.include('value="25.5"');
    const once = randomUUID();
    const form = {
      once,
      customer_id: link.customer_id,
      payment_token: link.token,
      coin: 'bsc:USDT',
      amount: '25.5',
    };
    const [first, second] = [
      await pages.post('/dashboard/test/simulate', form),
      await pages.post('/dashboard/test/simulate', form),
    ];
    expect([first.status, second.location]).to.deep.equal([303, first.location]);
    const deposits = await depositsOf(merchantId);
    expect(deposits.map((row) => row['payment_link_id'])).to.deep.equal([link.id]);
    expect((await pages.get(`/dashboard/test/links/${link.id}`)).text)
      .to.include('Paid: 25.50 USD')
      .and.to.include(`/dashboard/test/deposits/${deposits[0]?.['id']}`);
    expect((await pages.post('/dashboard/test/simulate', { ...form, amount: '1' })).status).to.equal(409);
    const late = await pages.post('/dashboard/test/simulate', { ...form, once: randomUUID() });
    expect([late.status, errorAt(late, 'payment_token')]).to.deep.equal([
      400,
      'Is of a link that is completed already.',
    ]);
  });

  it('are refused at the field that is wrong, and make nothing; live mode has none', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const customer = await newCustomer(merchantId, 'test', 'Ann');
    const live = await newCustomer(merchantId, 'live', 'Bob');
    const foreign = await newCustomer(the.api.merchant.id, 'test', 'Eve');
    const pages = await signedInPages(the.api, merchantId);
    const good = {
      customer_id: customer.id,
      coin: 'bsc:USDT',
      amount: '10',
      outcome: 'completed',
      events: 'final',
    };
    const wrong: readonly [name: string, value: string][] = [
      ['customer_id', ''],
      ['customer_id', 'x'],
      ['customer_id', randomUUID()],
      ['customer_id', live.id],
      ['customer_id', foreign.id],
      ['coin', ''],
      ['coin', 'tron:BNB'],
      ['coin', 'x'.repeat(9_000)],
      ['amount', '0'],
      ['amount', '-1'],
      ['amount', '1e9'],
      ['amount', '9'.repeat(99)],
      ['amount', '9'.repeat(999)],
      ['outcome', 'paid'],
      ['events', 'none'],
      ['payment_token', 'pl_x'],
      ['payment_token', 'x'.repeat(65)],
    ];
    for (const [name, value] of wrong) {
      const sent = await pages.post('/dashboard/test/simulate', { ...good, [name]: value });
      expect([sent.status, typeof errorAt(sent, name)], `${name}=${value.slice(0, 40)}`).to.deep.equal([
        400,
        'string',
      ]);
    }
    expect((await pages.post('/dashboard/test/simulate', { ...good, amount: '1\0' })).status).to.equal(400);
    for (const query of ['customer_id=x', 'customer_id=a&customer_id=b', `amount=${'%22'.repeat(900)}`])
      expect((await pages.get(`/dashboard/test/simulate?${query}`)).status, query).to.equal(200);
    expect((await pages.get('/dashboard/test/simulate?amount=%00')).status).to.equal(400);
    expect((await pages.get('/dashboard/simulate')).status).to.equal(404);
    expect((await pages.post('/dashboard/simulate', { ...good, customer_id: live.id })).status).to.equal(404);
    expect(await depositsOf(merchantId)).to.deep.equal([]);
  });
});
