import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../../dev/support/browser.ts';
import { Merchant } from '../../src/db/entities/index.ts';
import { advancePaymentLink } from '../../src/services/payment-links/advance.ts';
import { scriptOf } from '../../src/web/assets/assets.ts';
import { call } from '../support/gateway.ts';
import { faintTexts, openPage, overflowOf, readText, type WatchedPage } from '../support/http/browser.ts';
import { type Shop, startShop } from '../support/payment-shop.ts';

const LONG = 'W'.repeat(400);
const HOSTILE = [
  '<script>window.hit = 1; alert(1)</script>',
  '<img src=x onerror="window.hit = 1">',
  '"><svg onload="alert(1)">',
  "'`<b>&amp;</b>",
  '</p></main><iframe src="//evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
];
const MOBILE = { width: 320, height: 640 };

describe('the page of a payment link in a browser', function () {
  this.timeout(60_000);
  let shop: Shop;
  let browser: Browser;
  before(async () => {
    [shop, browser] = await Promise.all([startShop(), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  const pageOf = async (link: { token: string }, options: Parameters<typeof openPage>[2] = {}) => {
    const watched = await openPage(browser, shop.api.origin, options);
    await watched.page.goto(`${shop.api.origin}/pay/${link.token}`);
    return watched;
  };
  const close = async ({ context, complaints }: WatchedPage) => {
    await context.close();
    // The stream of a page that was left is cut off.
    expect(complaints.filter((one) => !/^failed request: .*\/live\?$/.test(one))).to.deep.equal([]);
  };
  const part = (page: Page, name: string) => readText(page.locator(`[data-part="${name}"]`));
  const currentNetwork = (page: Page) => readText(page.locator('.ways [aria-current="true"]'));
  const state = (page: Page) => readText(page.locator('[data-status]'));
  const simulate = async (body: object) => {
    const { status } = await call(`${shop.api.url}/test/simulate-deposit`, { key: shop.api.keys.test, body });
    expect(status).to.equal(201);
  };
  const methods = async ({ token }: { token: string }) =>
    (await call(`${shop.api.url}/payments/${token}`)).body['methods'];

  for (const javaScriptEnabled of [true, false]) {
    it(`says what to send where, ${javaScriptEnabled ? 'with' : 'without'} script, asking for nothing but itself`, async () => {
      const link = await shop.link({ email: 'plain@example.com', usd: '25.5', description: 'Order 7' });
      const [bsc] = await methods(link);
      const watched = await pageOf(link, { javaScriptEnabled });
      const { page, requests } = watched;
      expect(await page.title()).to.equal('Waiting for your payment – Shop');
      expect(await readText(page.locator('h1'))).to.equal('Shop');
      expect(await part(page, 'amount')).to.equal('25.5');
      expect(await part(page, 'address')).to.equal(bsc.address);
      await page.getByText('About the amount').click();
      expect(await part(page, 'contract')).to.equal(bsc.contract_address);
      expect(await readText(page.locator('main')))
        .to.include('25.50 USD')
        .and.include('Order 7')
        // With script the clock goes on; it is the server's, whose time stands still here.
        .and.match(/Time left: (1:00:00|59:\d\d) \(until 10:00 UTC\)/);
      expect(await readText(page.locator('main')))
        .to.include('Send only USDT on BNB Chain (BEP-20)')
        .and.not.include('Test mode');
      const scripts = javaScriptEnabled
        ? ['page', 'live'].map((name) => scriptOf(name as 'page', '/').src)
        : [];
      const asked = requests.filter((path) => !path.endsWith('/live'));
      expect(asked).to.deep.equal([`/pay/${link.token}`, ...scripts]);
      await close(watched);
    });
  }

  it('switches the network by a link, and shows that network’s address, contract and code', async () => {
    const link = await shop.link({ email: 'switch@example.com', usd: '12' });
    const [bsc, tron] = await methods(link);
    const watched = await pageOf(link, { javaScriptEnabled: false });
    const { page, requests } = watched;
    await page.getByRole('link', { name: 'Tron (TRC-20)' }).click();
    expect(await part(page, 'address')).to.equal(tron.address);
    await page.getByText('About the amount').click();
    expect(await part(page, 'contract')).to.equal(tron.contract_address);
    expect(await readText(page.locator('main')))
      .to.include('Send only USDT on Tron (TRC-20)')
      .and.not.include(bsc.address);
    expect(await currentNetwork(page)).to.match(/^Tron \(TRC-20\)/);
    await page.getByRole('link', { name: 'BNB Chain (BEP-20)' }).click();
    expect(await part(page, 'address')).to.equal(bsc.address);
    expect(requests).to.deep.equal([
      `/pay/${link.token}`,
      `/pay/${link.token}?network=tron&lang=en`,
      `/pay/${link.token}?network=bsc&lang=en`,
    ]);
    await close(watched);
    const narrow = await pageOf(await shop.link({ email: 'switch@example.com', network: 'tron' }));
    expect(await part(narrow.page, 'address')).to.equal(tron.address);
    expect(await narrow.page.getByRole('list', { name: 'Choose the network' }).count()).to.equal(0);
    await close(narrow);
  });

  it('refreshes itself while it is open, unless it was asked not to', async () => {
    const link = await shop.link({ email: 'refresh@example.com' });
    const watched = await pageOf(link, { javaScriptEnabled: false });
    const { page } = watched;
    const refresh = page.locator('meta[http-equiv="refresh"]');
    expect(Number(await refresh.getAttribute('content'))).to.be.within(10, 20);
    await page.getByRole('link', { name: 'Stop that' }).click();
    expect(await refresh.count()).to.equal(0);
    await page.getByRole('link', { name: 'Tron (TRC-20)' }).click();
    await page.getByRole('link', { name: 'Load again now' }).click();
    expect(await refresh.count()).to.equal(0);
    expect(await currentNetwork(page)).to.match(/^Tron \(TRC-20\)/);
    await page.getByRole('link', { name: 'Load again by itself' }).click();
    expect(await refresh.count()).to.equal(1);
    await close(watched);
  });

  it('shows a payment as seen, confirming, and paid, and takes the address away when enough was seen', async () => {
    const customerId = await shop.customer();
    const link = await shop.link({
      customerId,
      usd: '40',
      successUrl: 'https://shop.example/thanks?order=7',
      cancelUrl: 'https://shop.example/',
    });
    const watched = await pageOf(link, { javaScriptEnabled: false });
    const { page } = watched;
    expect(await state(page)).to.match(/^Waiting for your payment/);
    expect(await page.getByRole('link', { name: 'Back to shop.example' }).getAttribute('href')).to.equal(
      'https://shop.example/',
    );
    const first = await shop.pay(customerId, { coins: '10.5', state: 'completed' });
    await page.reload();
    expect(await state(page)).to.match(
      /^Part of it has arrived\s+Time left: 1:00:00 \(until \d\d:\d\d UTC\)\s+29\.5 USDT is still missing\.\s*$/,
    );
    expect(await part(page, 'amount')).to.equal('29.5');
    shop.pass(1);
    const second = await shop.pay(customerId, { coins: '29.5', network: 'tron', state: 'confirming' });
    await page.reload();
    expect(await state(page)).to.match(
      /^Payment seen\s+There is nothing to send now\.\s+The network is confirming it\..*\s+\d+ of 19 confirmations$/,
    );
    expect(await page.locator('[data-part="address"], svg').count()).to.equal(0);
    await shop.move(second, 'completed');
    await page.reload();
    expect(await state(page)).to.match(/^Paid\s+The payment is confirmed\. Thank you\.$/);
    expect(await readText(page.locator('#receipt')))
      .to.match(/Received\s+40 USDT/)
      .and.include('09:00 UTC');
    const hashes = (await Promise.all([first, second].map((id) => shop.deposit(id)))).map(
      ({ transactionHash }) => transactionHash,
    );
    expect(await page.locator('[data-part="transaction"]').allInnerTexts()).to.deep.equal(hashes);
    expect(await page.locator('meta[http-equiv], [data-part="address"], svg').count()).to.equal(0);
    const onward = page.getByRole('link', { name: 'Continue to shop.example' });
    expect(await onward.getAttribute('href')).to.equal('https://shop.example/thanks?order=7');
    expect(await page.getByRole('link').allInnerTexts()).to.deep.equal([
      'Continue to shop.example',
      'Deutsch',
    ]);
    await close(watched);
  });

  it('takes the address away when the time is over, when the link expires, and when it is cancelled', async () => {
    const customerId = await shop.customer('test');
    const link = await shop.link({ customerId, mode: 'test' });
    const gone = await shop.link({ customerId, mode: 'test' });
    const late = await shop.link({ customerId, mode: 'test' });
    await call(`${shop.api.url}/payment-links/${gone.id}/cancel`, {
      key: shop.api.keys.test,
      method: 'POST',
    });
    const address = (await methods(link))[0].address;
    const watched = await pageOf(gone, { javaScriptEnabled: false });
    const { page } = watched;
    const expectClosed = async (text: string, refreshes: number) => {
      expect(await state(page)).to.include(text);
      expect(await readText(page.locator('body')))
        .to.include('Test mode')
        .and.not.include(address);
      expect(await page.locator('[data-part="address"], svg').count()).to.equal(0);
      expect(await page.locator('meta[http-equiv="refresh"]').count()).to.equal(refreshes);
    };
    await expectClosed('This payment link was cancelled', 1);
    await simulate({
      customer_id: customerId,
      payment_token: late.token,
      amount: '5',
      outcome: 'confirming',
    });
    shop.pass(3_601);
    await page.goto(`${shop.api.origin}/pay/${link.token}`);
    await expectClosed('The time to pay is over', 1);
    await page.goto(`${shop.api.origin}/pay/${late.token}`);
    await expectClosed('Do not send anything now.', 1);
    await expectClosed('1 of 15 confirmations', 1);
    await advancePaymentLink(shop.deps, { linkId: link.id });
    await page.goto(`${shop.api.origin}/pay/${link.token}`);
    await expectClosed('This payment link has expired', 1);
    shop.pass(3_600);
    await page.reload();
    await expectClosed('This payment link has expired', 0);
    await close(watched);
  });

  it('shows hostile texts as texts, inside the screen of a phone', async () => {
    const merchants = shop.deps.orm.em.fork();
    const text = `${HOSTILE.join(' ')} \u202Egnp.exe ${LONG}`.slice(0, 500);
    await merchants.nativeUpdate(Merchant, { id: shop.merchantId }, { name: HOSTILE[0] ?? '' });
    const customerId = await shop.customer();
    const link = await shop.link({
      customerId,
      description: text,
      successUrl: `https://${'a'.repeat(60)}.example/`,
      cancelUrl: `https://${'b.'.repeat(60)}example/`,
    });
    await shop.pay(customerId, { coins: '1', state: 'detected' });
    const watched = await pageOf(link, { viewport: MOBILE, deviceScaleFactor: 2, isMobile: true });
    const { page } = watched;
    expect(await readText(page.locator('h1'))).to.equal(HOSTILE[0]);
    expect(await readText(page.locator('.description'))).to.equal(text.replace('\u202E', ''));
    expect(
      await page.locator('main script, img, iframe, b, main svg[onload], meta[content*="evil"]').count(),
    ).to.equal(0);
    expect(await page.evaluate(`'hit' in window`)).to.equal(false);
    expect(await page.title()).to.include('<script>');
    expect(await overflowOf(page)).to.equal(0);
    await merchants.nativeUpdate(Merchant, { id: shop.merchantId }, { name: 'Shop' });
    await close(watched);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`can be read by everybody, in the ${colorScheme}`, async () => {
      const customerId = await shop.customer('test');
      const link = await shop.link({
        customerId,
        mode: 'test',
        description: 'Order 7',
        cancelUrl: 'https://shop.example/',
      });
      const watched = await openPage(browser, shop.api.origin, { colorScheme, viewport: MOBILE });
      const { page } = watched;
      const expectReadable = async () => {
        expect(await faintTexts(page, 4.5)).to.deep.equal([]);
        expect(await overflowOf(page)).to.equal(0);
        expect(await page.locator('html').getAttribute('lang')).to.equal('en');
        expect(await page.locator('h1').count()).to.equal(1);
        expect(await page.locator('main').count()).to.equal(1);
        expect(
          await page
            .locator('svg:not([role="img"][aria-label]), a:not([href]), section:not([aria-labelledby])')
            .count(),
        ).to.equal(0);
      };
      await page.goto(`${shop.api.origin}/pay/${link.token}`);
      await expectReadable();
      await simulate({
        customer_id: customerId,
        payment_token: link.token,
        amount: '7',
        outcome: 'detected',
      });
      await page.reload();
      expect(await state(page)).to.match(
        /^Payment seen\s+Time left: .*\s+18 USDT is still missing\.\s+0 of 15 confirmations/,
      );
      await expectReadable();
      await simulate({ customer_id: customerId, amount: '26' });
      await page.reload();
      expect(await state(page)).to.match(/^Paid/);
      await expectReadable();
      await page.goto(`${shop.api.origin}/login`);
      expect(await faintTexts(page, 4.5)).to.deep.equal([]);
      await close(watched);
    });
  }
});
