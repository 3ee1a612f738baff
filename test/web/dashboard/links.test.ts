import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createPaymentLink, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { parseUnits } from '../../../src/domain/money.ts';
import { listActions } from '../../../src/services/audit/list.ts';
import { barriers } from '../../support/http/axe.ts';
import { overflowOf, readText } from '../../support/http/browser.ts';
import { openDashboard, unexpected } from '../../support/http/dashboard.ts';
import { errorAt, signedInPages } from '../../support/http/pages.ts';
import { browserStage } from '../../support/http/stage.ts';

const HOSTILE = '<script>window.hit = 1; alert(1)</script> "><img src=x onerror=alert(1)> \u202Egnp.exe';

describe('payment links in the dashboard', function () {
  this.timeout(60_000);
  const the = browserStage();

  const rows = async (table: string, merchantId: string): Promise<number> => {
    const [row] = await the.api.deps.orm.em
      .fork()
      .execute<{ n: string }[]>(`select count(*) as n from ${table} where merchant_id = ?`, [merchantId]);
    return Number(row?.n);
  };
  const newLink = async (merchantId: string, more: object = {}) => {
    const terms = { merchantId, mode: 'test' as const, amountCents: 2_500n, publicUrl: the.api.origin };
    return (
      await createPaymentLink(the.api.deps, { ...terms, email: `${randomUUID()}@example.com`, ...more })
    ).link;
  };

  for (const javaScriptEnabled of [true, false]) {
    it(`are made, shown, found and cancelled ${javaScriptEnabled ? 'with' : 'without'} script`, async () => {
      const { id: merchantId } = await the.api.newMerchant();
      const signedIn = await openDashboard(the.browser, the.api, {
        merchantId,
        path: '/dashboard/test/links',
        javaScriptEnabled,
      });
      const { page, context, user } = signedIn;
      expect(await readText(page.locator('main'))).to.include('No payment links yet');
      await page.getByRole('link', { name: 'Make the first one' }).click();
      await page.getByLabel('Email of the customer').fill('ann@example.com');
      await page.getByLabel('Amount in USD').fill('1.25');
      await page.getByLabel('Description').fill('Order 1001');
      await page.getByRole('button', { name: 'Create payment link' }).click();
      expect(await readText(page.locator('#amount_usd-error'))).to.equal(
        'The smallest amount of a payment link is 5 USD.',
      );
      expect(await page.getByLabel('Description').inputValue()).to.equal('Order 1001');
      await page.getByLabel('Amount in USD').fill('25.50');
      await page.getByLabel('Network').selectOption({ index: 1 });
      await page.getByLabel('Can be paid for').selectOption('1 day');
      await page.getByRole('button', { name: 'Create payment link' }).click();
      expect(await readText(page.locator('h1'))).to.include('Order 1001');
      const url = await readText(page.locator('#link-url'));
      expect(url).to.match(/\/pay\/pl_[\w-]{32}$/);
      expect(await page.getByRole('img', { name: 'QR code of the address for the payer' }).count()).to.equal(
        1,
      );
      expect(await readText(page.getByRole('note'))).to.include('Nothing has been paid of 25.50 USD');
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      const row = await the.api.deps.orm.em.fork().execute(
        `select amount_cents, network, round(extract(epoch from expires_at - created_at)) as s, mode
             from payment_links where id = ?`,
        [id],
      );
      expect(row).to.deep.equal([{ amount_cents: '2550', network: 'bsc', s: '86400', mode: 'test' }]);
      await page.getByRole('link', { name: '← Payment links' }).click();
      await page.getByLabel('State').selectOption('Not paid yet');
      await page.getByLabel('From day (UTC)').fill(new Date().toISOString().slice(0, 10));
      await page.getByLabel('Search').fill('order 10');
      await page.getByRole('button', { name: 'Filter' }).click();
      expect(await page.getByRole('row').count()).to.equal(2);
      await page.getByRole('link', { name: 'Order 1001' }).click();
      await page.getByRole('link', { name: 'Cancel the link' }).click();
      await page.getByRole('button', { name: 'Cancel the link' }).click();
      expect(await readText(page.getByRole('note'))).to.include('It was cancelled');
      const link = page.url();
      await page.goto(`${link}/cancel`);
      expect(await readText(page.locator('main'))).to.include('There is nothing to cancel.');
      expect(await page.getByRole('button', { name: 'Cancel the link' }).count()).to.equal(0);
      await page.getByRole('link', { name: 'Look at the link' }).click();
      expect(page.url()).to.equal(link);
      expect(await page.getByRole('link', { name: 'Cancel the link' }).count()).to.equal(0);
      const actions = await listActions(the.api.deps, { merchantId, limit: 10 });
      expect(actions.map(({ action, by, subject }) => ({ action, by, subject }))).to.deep.equal([
        { action: 'link.cancel', by: user.email, subject: id },
        { action: 'link.create', by: user.email, subject: id },
      ]);
      await context.close();
      expect(unexpected(signedIn, 400)).to.deep.equal([]);
    });
  }

  it('show the secret of a webhook of their own once', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const pages = await signedInPages(the.api, merchantId);
    const made = await pages.post('/dashboard/links/new', {
      email: 'bob@example.com',
      amount_usd: '20',
      expires_in: '3600',
      webhook_url: 'http://127.0.0.1:9/hook',
    });
    expect(made.status).to.equal(303);
    const shown = await pages.get(made.location);
    expect(shown.text)
      .to.match(/whsec_[\w+/=]{20,}/)
      .and.to.include('/pay/pl_');
    const gone = await pages.get(made.location);
    expect(gone.status).to.equal(404);
    expect(gone.text).not.to.include('whsec_');
    const next = /href="(\/dashboard\/links\/[0-9a-f-]{36})">I have copied it/.exec(shown.text)?.[1] ?? '';
    const link = await pages.get(next);
    expect(link.status).to.equal(200);
    expect(link.text).to.include('http://127.0.0.1:9/hook').and.not.to.include('whsec_');
    expect((await pages.get(`${next}/deliveries`)).text).to.include('No deliveries');
  });

  it('take effect once for a form, and not at all for the same form with other values', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const pages = await signedInPages(the.api, merchantId);
    const form = { once: randomUUID(), email: 'ann@example.com', amount_usd: '20', expires_in: '3600' };
    const [first, second] = [
      await pages.post('/dashboard/links/new', form),
      await pages.post('/dashboard/links/new', form),
    ];
    expect([first.status, second.status]).to.deep.equal([303, 303]);
    expect(second.location).to.equal(first.location);
    const other = await pages.post('/dashboard/links/new', { ...form, amount_usd: '21' });
    expect(other.status).to.equal(409);
    expect(other.text).to.include('sent before with other values').and.to.include('value="21"');
    expect(await rows('payment_links', merchantId)).to.equal(1);
    expect(await rows('customers', merchantId)).to.equal(1);
  });

  it('refuse every wrong field at that field, and make nothing', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const pages = await signedInPages(the.api, merchantId);
    const good = { email: 'ann@example.com', amount_usd: '20', expires_in: '3600' };
    const foreign = await newLink(the.api.merchant.id);
    const wrong: readonly [name: string, value: string, at?: string][] = [
      ['email', 'ann'],
      ['email', ''],
      ['email', `${'a'.repeat(400)}@example.com`],
      ['customer_id', randomUUID(), 'email'],
      ['amount_usd', ''],
      ['amount_usd', '0'],
      ['amount_usd', '-5'],
      ['amount_usd', '1e3'],
      ['amount_usd', '12,50'],
      ['amount_usd', '12.345'],
      ['amount_usd', '99999999'],
      ['amount_usd', '9'.repeat(5_000)],
      ['description', 'x'.repeat(501)],
      ['external_id', 'x'.repeat(256)],
      ['network', 'bitcoin'],
      ['expires_in', '1'],
      ['expires_in', 'soon'],
      ['expires_in', '99999999999'],
      ['success_url', 'javascript:alert(1)'],
      ['cancel_url', 'shop.example'],
      ['webhook_url', 'ftp://shop.example'],
      ['webhook_url', 'http://10.0.0.1/'],
    ];
    for (const [name, value, at = name] of wrong) {
      const sent = await pages.post('/dashboard/test/links/new', { ...good, [name]: value });
      expect(sent.status, `${name}=${value.slice(0, 40)}`).to.equal(400);
      expect(errorAt(sent, at), `${name}=${value.slice(0, 40)}`).to.be.a('string');
    }
    for (const customer_id of ['no id', randomUUID(), foreign.customer_id]) {
      const sent = await pages.post('/dashboard/test/links/new', { ...good, email: '', customer_id });
      expect(sent.status).to.equal(400);
      expect(errorAt(sent, 'customer_id')).to.equal('There is no such customer in this mode.');
    }
    expect((await pages.post('/dashboard/test/links/new', { ...good, description: 'a\0b' })).status).to.equal(
      400,
    );
    expect((await pages.post('/dashboard/test/links/new', { ...good, once: 'x' })).status).to.equal(400);
    expect((await pages.post('/dashboard/test/links/new', { x: 'y'.repeat(70_000) })).status).to.equal(413);
    expect([await rows('payment_links', merchantId), await rows('customers', merchantId)]).to.deep.equal([
      0, 0,
    ]);
  });

  it('answer every wrong filter with a page that says which, and shows no row', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    await newLink(merchantId, { description: 'Only this one' });
    const pages = await signedInPages(the.api, merchantId);
    const wrong = [
      'status=paid',
      'status=pending&status=expired',
      'customer_id=1',
      `search=${'x'.repeat(400)}`,
      'created_from=yesterday',
      'created_to=2026-13-01',
      'limit=0',
      'limit=1000',
      'page=x',
      'starting_after=x',
      `page=2&starting_after=${randomUUID()}`,
      'search=%00',
      'search=%ff',
    ];
    for (const query of wrong) {
      const sent = await pages.get(`/dashboard/test/links?${query}`);
      expect(sent.status, query).to.equal(400);
      expect(sent.text, query).not.to.include('Only this one');
    }
    const { text } = await pages.get('/dashboard/test/links?created_from=yesterday&limit=0');
    expect(text)
      .to.include('What is wrong stands at its field. limit must be')
      .and.not.include('created_from must');
    expect((await pages.get('/dashboard/test/links')).text).to.include('Only this one');
  });

  it('are shown in every state, for eyes, ears and a narrow screen alike', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const pay = async (
      link: Awaited<ReturnType<typeof newLink>>,
      amount: string,
      outcome: 'completed' | 'confirming',
    ) =>
      await simulateDeposit(the.api.deps, {
        merchantId,
        customerId: link.customer_id,
        network: 'bsc',
        currency: 'USDT',
        amountUnits: parseUnits(amount, 18),
        paymentToken: link.token,
        outcome,
        events: 'final',
      });
    const links = {
      pending: await newLink(merchantId, {
        description: HOSTILE,
        externalId: HOSTILE,
        successUrl: 'https://shop.example/thanks',
        metadata: { order: HOSTILE },
      }),
      processing: await newLink(merchantId),
      partially_paid: await newLink(merchantId),
      completed: await newLink(merchantId, { description: 'x'.repeat(500) }),
    };
    await pay(links.processing, '25', 'confirming');
    await pay(links.partially_paid, '10.5', 'completed');
    await pay(links.completed, '30', 'completed');
    const expected = {
      pending: 'Nothing has been paid of 25.00 USD',
      processing: 'A payment was seen and is not confirmed yet',
      partially_paid: '14.50 USD of 25.00 USD is missing',
      completed: 'Paid: 30.00 USD',
    };
    const signedIn = await openDashboard(the.browser, the.api, {
      merchantId,
      path: '/dashboard/test/links',
      viewport: { width: 320, height: 640 },
    });
    const { page, context } = signedIn;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const [state, title] of Object.entries(expected)) {
        const { id } = links[state as keyof typeof links];
        await page.goto(`${the.api.origin}/dashboard/test/links/${id}`);
        expect(await readText(page.getByRole('note'))).to.include(title);
        expect(await barriers(page), state).to.deep.equal([]);
        expect(await overflowOf(page), state).to.equal(0);
      }
      for (const path of ['links', 'links/new', `links/${links.pending.id}/cancel`, 'links?status=wrong']) {
        await page.goto(`${the.api.origin}/dashboard/test/${path}`);
        expect(await barriers(page), path).to.deep.equal([]);
        expect(await overflowOf(page), path).to.equal(0);
      }
    }
    await page.goto(`${the.api.origin}/dashboard/test/links/${links.pending.id}`);
    expect(await readText(page.locator('h1'))).to.include('<script>window.hit = 1');
    expect(await page.evaluate('window.hit')).to.equal(undefined);
    await page.goto(`${the.api.origin}/dashboard/test/links/${links.processing.id}/cancel`);
    await page.getByRole('button', { name: 'Cancel the link' }).click();
    expect(await readText(page.getByRole('alert'))).to.include('is being confirmed');
    await context.close();
    expect(unexpected(signedIn, 400)).to.deep.equal([]);
  });

  it('are those of a customer from the customer’s own page', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const { customer_id: customerId, email } = await newLink(merchantId);
    const pages = await signedInPages(the.api, merchantId);
    const way = `/dashboard/test/links/new?customer_id=${customerId}`;
    expect((await pages.get(`/dashboard/test/customers/${customerId}`)).text).to.include(way);
    const shown = await pages.get(way);
    expect(shown.text)
      .to.include(`<input type="hidden" name="customer_id" value="${customerId}">`)
      .and.to.include(email)
      .and.not.to.include('Email of the customer');
    const made = await pages.post('/dashboard/test/links/new', { customer_id: customerId, amount_usd: '20' });
    expect(made.status).to.equal(303);
    const list = await pages.get(`/dashboard/test/links?customer_id=${customerId}`);
    expect(list.text).to.include('2 payment links');
  });
});
