import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { create } from 'qrcode';
import { Merchant } from '../../../src/db/entities/index.ts';
import { NETWORKS } from '../../../src/domain/assets.ts';
import { scriptOf } from '../../../src/web/assets/assets.ts';
import { wordsOf } from '../../../src/web/words/index.ts';
import { call } from '../../support/gateway.ts';
import { openPage, overflowOf, readSquares, readText, type WatchedPage } from '../../support/http/browser.ts';
import { wrongWith } from '../../support/http/look.ts';
import { shopStage } from '../../support/http/stage.ts';
import { makeStates, type ShownState } from './states.ts';

const PHONE = { width: 320, height: 640 };
const TARGETS = 'a, button, summary, input:not([type=hidden])';
/** No more is asked for, so no address and no code stands there. */
const PAYABLE = ['pending', 'onOneNetwork', 'test', 'seenInPart', 'partial', 'partialToTheUnit', 'failed'];
const HOSTILE = [
  '<script>window.hit = 1; alert(1)</script>',
  '<img src=x onerror="window.hit = 1">',
  '"><svg onload="alert(1)">',
  "'`<b>&amp;</b>",
  '</p></main><iframe src="//evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
];

describe('the checkout in a browser', function () {
  this.timeout(120_000);
  const the = shopStage();
  let states: Readonly<Record<string, ShownState>>;
  before(async () => {
    states = await makeStates(the.shop);
  });

  const open = async (options: Parameters<typeof openPage>[2] = {}) =>
    await openPage(the.browser, the.shop.api.origin, { viewport: PHONE, ...options });
  const show = async ({ page }: WatchedPage, { path, watched = NETWORKS }: ShownState, query = '') => {
    Object.assign(the.shop.deps.settings.payments, { watchedNetworks: watched });
    await page.goto(the.shop.api.origin + path + query);
  };
  const state = (name: string): ShownState => {
    const found = states[name];
    if (!found) throw new Error(`there is no state ${name}`);
    return found;
  };
  const close = async ({ context, complaints }: WatchedPage) => {
    await context.close();
    // A page that is not there is answered with 404, which a browser writes down; the stream of a page that
    // was left is cut off.
    expect(complaints.filter((text) => !/404|^failed request: .*\/live\?/.test(text))).to.deep.equal([]);
  };
  const part = (page: Page, name: string) => readText(page.locator(`[data-part="${name}"]`));
  const methods = async ({ token }: { token: string }) =>
    (await call(`${the.shop.api.url}/payments/${token}`)).body['methods'];

  for (const [turn, [lang, colorScheme]] of [['en', 'light'] as const, ['de', 'dark'] as const].entries())
    it(`says of each state what is so and what to do, whole on a phone and for everybody, ${lang}, ${colorScheme}`, async () => {
      const watched = await open({ colorScheme, isMobile: true, deviceScaleFactor: 2 });
      const { page } = watched;
      const wrong: string[] = [];
      for (const [index, [name, one]] of Object.entries(states).entries()) {
        await show(watched, one, `?lang=${lang}`);
        expect(await page.locator('html').getAttribute('lang'), name).to.equal(lang);
        const body = await readText(page.locator('body'));
        if (lang === 'en') expect(body, name).to.include(one.title);
        else expect(body, name).not.to.include(one.title);
        if (lang === 'en' && one.says) {
          const said = (await readText(page.locator('#state'))).replaceAll(/\s+/g, ' ').trim();
          expect(said, name).to.match(one.says);
        }
        const asked = await page.locator('[data-part="address"], figure svg').count();
        expect(asked > 0, `${name} asks for money`).to.equal(PAYABLE.includes(name));
        const look = { targets: TARGETS };
        if (index % 2 === turn) wrong.push(...(await wrongWith(page, `checkout-${name}-${lang}`, look)));
        else expect(await overflowOf(page), name).to.equal(0);
      }
      expect(wrong).to.deep.equal([]);
      await close(watched);
    });

  it('shows of each payment what it was, and of a failed one nothing, in the browser’s language or another', async () => {
    const watched = await open();
    const { page } = watched;
    await show(watched, state('partialToTheUnit'));
    expect(await part(page, 'amount')).to.equal('14.999999999999999999');
    expect(await readText(page.locator('#arrived'))).to.equal('Arrived: 10.000000000000000001 of 25 USDT.');
    await show(watched, state('failed'));
    expect(await page.locator('#seen').count()).to.equal(0);
    await page.setExtraHTTPHeaders({ 'Accept-Language': 'de-AT' });
    await show(watched, state('partialToTheUnit'));
    expect(await page.title()).to.equal(`${wordsOf('de').states.partial.title} – Shop`);
    await page.getByRole('link', { name: 'English' }).click();
    expect(await page.title()).to.equal('Part of it has arrived – Shop');
    await page.setExtraHTTPHeaders({});
    await show(watched, state('late'));
    expect(await readText(page.locator('#late'))).to.match(
      /25 USDT on BNB Chain.*too late.*does not count for this link.*0x[0-9a-f]{64}/s,
    );
    await show(watched, state('paid'));
    const onward = page.getByRole('link', { name: 'Continue to shop.example' });
    expect(await onward.getAttribute('href')).to.equal('https://shop.example/orders/1001');
    await page.emulateMedia({ media: 'print' });
    const receipt = await readText(page.locator('body'));
    for (const text of ['Shop', '25.00 USD', '25 USDT', 'Order 1001', 'Tron (TRC-20)', 'Paid', ' UTC'])
      expect(receipt).to.include(text);
    expect(receipt).not.to.match(/Continue|Deutsch|Copy|Print or save/);
    expect(await page.locator('[data-part="transaction"]').count()).to.equal(2);
    await close(watched);
  });

  it('stays whole with text twice as large, and shows what to send on a phone’s first screen', async () => {
    const watched = await open({ deviceScaleFactor: 2 });
    const { page } = watched;
    for (const name of ['onOneNetwork', 'partialToTheUnit', 'late', 'paid']) {
      await page.setViewportSize({ width: 640, height: 900 });
      await show(watched, state(name), '?lang=de');
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
      expect(await overflowOf(page), name).to.equal(0);
    }
    await page.setViewportSize(PHONE);
    for (const name of ['onOneNetwork', 'test']) {
      await show(watched, state(name), '?lang=de');
      for (const place of ['#left', '#amount', '#address']) {
        const box = await page.locator(place).boundingBox();
        expect((box?.y ?? 0) + (box?.height ?? 9_999), `${name} ${place}`).to.be.below(PHONE.height);
      }
    }
    await close(watched);
  });

  it('asks for nothing but itself, and gives the address as one text to whoever selects it', async () => {
    const link = await the.shop.link({ email: 'plain@example.com', usd: '25.5', description: 'Order 7' });
    const [bsc] = await methods(link);
    const watched = await open();
    const { page, requests } = watched;
    await show(watched, { path: `/pay/${link.token}`, title: '' });
    expect(await page.title()).to.equal('Waiting for your payment – Shop');
    const selected = await page.evaluate(`(() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('#address'));
      getSelection().addRange(range);
      return [String(getSelection()), document.querySelector('#address').textContent];
    })()`);
    expect(selected).to.deep.equal([bsc.address, bsc.address]);
    const text = await readText(page.locator('main'));
    expect(text).to.include('25.50 USD').and.include('Order 7').and.not.include('Test mode');
    expect(text).to.include('Send only USDT on BNB Chain (BEP-20)').and.include('(until 10:0');
    const scripts = (['page', 'live'] as const).map((name) => scriptOf(name, '/').src);
    expect(requests.filter((path) => !path.endsWith('/live'))).to.deep.equal([
      `/pay/${link.token}`,
      ...scripts,
    ]);
    await close(watched);
  });

  it('is done by keyboard alone and without script: networks, language, loading again', async () => {
    const watched = await open({ javaScriptEnabled: false });
    const { page } = watched;
    const { path } = state('pending');
    const [bsc, tron] = await methods({ token: path.split('/').at(-1) ?? '' });
    await show(watched, state('pending'));
    expect(await part(page, 'address')).to.equal(bsc.address);
    expect(await tabStops(page)).to.deep.equal([
      'BNB Chain (BEP-20) Fee: a few cents · under a minute',
      'Tron (TRC-20) Fee: a few dollars · about 2 minutes',
      'Code with the amount, for wallets that read it',
      'About the amount, the coin and the time',
      'Back to shop.example',
      'Stop that',
      'Deutsch',
    ]);
    const refresh = page.locator('meta[http-equiv="refresh"]');
    expect(await refresh.getAttribute('content')).to.equal('15');
    await page.getByRole('link', { name: 'Stop that' }).click();
    expect(await refresh.count()).to.equal(0);
    await page.locator('.ways a').nth(1).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/network=tron/);
    expect([await refresh.count(), await part(page, 'address')]).to.deep.equal([0, tron.address]);
    await page.locator('summary').last().focus();
    await page.keyboard.press('Enter');
    expect(await part(page, 'contract')).to.equal(tron.contract_address);
    expect(await readText(page.locator('main')))
      .to.include('Send only USDT on Tron (TRC-20)')
      .and.not.include(bsc.address);
    await page.getByRole('link', { name: 'Load again by itself' }).click();
    expect(await refresh.count()).to.equal(1);
    await page.getByText('Deutsch').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/network=tron&lang=de/);
    expect(await readText(page.locator('.ways [aria-current="true"]'))).to.include('Tron');
    await close(watched);
  });

  it('draws the very code of the address, and behind it the one of the payment, dark on white with a margin, also in the dark', async () => {
    const link = await the.shop.link({ email: 'code@example.com' });
    const [bsc, tron] = await methods(link);
    for (const [method, colorScheme] of [[bsc, 'light'] as const, [tron, 'dark'] as const]) {
      const watched = await open({ colorScheme });
      const { page } = watched;
      await show(watched, { path: `/pay/${link.token}`, title: '' }, `?network=${method.network}`);
      for (const [place, text] of [
        ['figure svg', method.address],
        ['details svg', method.payment_uri],
      ] as const) {
        expect(await page.locator(place).getAttribute('aria-label')).to.include(method.address);
        const { modules } = create(text, { errorCorrectionLevel: 'M' });
        const side = modules.size + 8;
        const drawn = await readSquares(page, side, place);
        const expected = drawn.map((_, index) => {
          const [row, column] = [Math.floor(index / side) - 4, (index % side) - 4];
          const inside = [row, column].every((at) => at >= 0 && at < modules.size);
          return inside && modules.get(row, column) ? 1 : 0;
        });
        expect(drawn.join('')).to.equal(expected.join(''));
      }
      expect(await page.locator('details a').getAttribute('href')).to.equal(method.payment_uri);
      await close(watched);
    }
  });

  it('shows hostile texts as texts, inside the screen of a phone', async () => {
    const { shop } = the;
    const merchants = shop.deps.orm.em.fork();
    const text = `${HOSTILE.join(' ')} \u202Egnp.exe ${'W'.repeat(400)}`.slice(0, 500);
    await merchants.nativeUpdate(Merchant, { id: shop.merchantId }, { name: HOSTILE[0] ?? '' });
    const customerId = await shop.customer();
    const link = await shop.link({
      customerId,
      description: text,
      successUrl: `https://${'a'.repeat(60)}.example/`,
      cancelUrl: `https://${'b.'.repeat(60)}example/`,
    });
    await shop.pay(customerId, { coins: '1', state: 'detected' });
    const watched = await open({ deviceScaleFactor: 2, isMobile: true });
    const { page } = watched;
    await show(watched, { path: `/pay/${link.token}`, title: '' });
    expect(await readText(page.locator('h1'))).to.equal(HOSTILE[0]);
    expect(await readText(page.locator('.description'))).to.equal(text.replace('\u202E', ''));
    const ran = 'main script, img, iframe, b, main svg[onload], meta[content*="evil"]';
    expect(await page.locator(ran).count()).to.equal(0);
    expect(await page.evaluate(`'hit' in window`)).to.equal(false);
    expect(await page.title()).to.include('<script>');
    expect(await overflowOf(page)).to.equal(0);
    await merchants.nativeUpdate(Merchant, { id: shop.merchantId }, { name: 'Shop' });
    await close(watched);
  });
});

/** The names of what the tab key stops at, in order, until it leaves the page. */
async function tabStops(page: Page): Promise<string[]> {
  const stops: string[] = [];
  for (;;) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate<string>(
      `document.activeElement === document.body ? '' : document.activeElement.innerText.replaceAll(/\\s+/g, ' ')`,
    );
    if (name === '' || stops.length > 30) return stops;
    const outline = await page.evaluate<string>(`getComputedStyle(document.activeElement).outlineStyle`);
    stops.push(outline === 'none' ? `${name} (without a visible focus)` : name);
  }
}
