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

  it('shows of each payment what it was, and of a failed one that it is not counted, in the browser’s language or another', async () => {
    const watched = await open();
    const { page } = watched;
    await show(watched, state('partialToTheUnit'));
    expect(await part(page, 'amount')).to.equal('14.999999999999999999');
    expect(await readText(page.locator('#arrived'))).to.equal('Arrived: 10.000000000000000001 of 25 USDT.');
    await show(watched, state('failed'));
    expect(await readText(page.locator('#seen'))).to.include('Not counted');
    expect(await page.locator('#anyway #pay').count(), 'the way to pay is folded').to.equal(1);
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
