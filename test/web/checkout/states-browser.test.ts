import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../../../dev/support/browser.ts';
import { NETWORKS } from '../../../src/domain/assets.ts';
import { LANGS, wordsOf } from '../../../src/web/words/index.ts';
import { barriers } from '../../support/http/axe.ts';
import { faintTexts, openPage, overflowOf, readText, type WatchedPage } from '../../support/http/browser.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { makeStates, type ShownState } from './states.ts';

const PHONE = { width: 320, height: 640 };

describe('every state of the checkout in a browser', function () {
  this.timeout(120_000);
  let shop: Shop;
  let browser: Browser;
  let states: Readonly<Record<string, ShownState>>;
  before(async () => {
    [shop, browser] = await Promise.all([startShop(), startBrowser()]);
    states = await makeStates(shop);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  const open = async (options: Parameters<typeof openPage>[2] = {}) =>
    await openPage(browser, shop.api.origin, { viewport: PHONE, ...options });
  const show = async ({ page }: WatchedPage, { path, watched = NETWORKS }: ShownState, query = '') => {
    Object.assign(shop.deps.settings.payments, { watchedNetworks: watched });
    await page.goto(shop.api.origin + path + query);
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

  for (const colorScheme of ['light', 'dark'] as const)
    for (const lang of LANGS)
      it(`is whole, and read by everybody, on a phone, ${lang}, ${colorScheme}`, async () => {
        const watched = await open({ colorScheme, isMobile: true, deviceScaleFactor: 2 });
        const { page } = watched;
        for (const [name, one] of Object.entries(states)) {
          await show(watched, one, `?lang=${lang}`);
          await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
          expect(await page.locator('html').getAttribute('lang'), name).to.equal(lang);
          expect(await page.locator('h1').count(), name).to.equal(1);
          expect(await overflowOf(page), name).to.equal(0);
          expect(await cutTexts(page), name).to.deep.equal([]);
          expect(await faintTexts(page, 4.5), name).to.deep.equal([]);
          expect(await smallTargets(page), name).to.deep.equal([]);
          expect(await barriers(page, `checkout-${name}-${lang}-${colorScheme}`), name).to.deep.equal([]);
          const text = await readText(page.locator('body'));
          expect(text, name).not.to.match(/undefined|NaN|\[object/);
          if (lang === 'en') expect(text, name).to.include(one.title);
          else expect(text, name).not.to.include(one.title);
        }
        await close(watched);
      });

  it('stays whole where text is twice as large, and where the page is', async () => {
    for (const [viewport, size] of [
      [{ width: 640, height: 900 }, '200%'],
      [{ width: 320, height: 450 }, '100%'],
    ] as const) {
      const watched = await open({ viewport, deviceScaleFactor: 2 });
      for (const [name, one] of Object.entries(states)) {
        await show(watched, one, '?lang=de');
        await watched.page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
        expect(await overflowOf(watched.page), name).to.equal(0);
        expect(await cutTexts(watched.page), name).to.deep.equal([]);
      }
      await close(watched);
    }
  });

  it('shows what to send, where and for how long still on a phone’s first screen', async () => {
    const watched = await open();
    const { page } = watched;
    for (const lang of LANGS)
      for (const name of ['pending', 'onOneNetwork', 'test', 'partial']) {
        await show(watched, state(name), `?lang=${lang}`);
        // With the buttons that are there with script alone.
        await page.evaluate('document.documentElement.classList.add("script")');
        for (const place of ['#left', '#amount', '#address']) {
          const box = await page.locator(place).boundingBox();
          expect((box?.y ?? 0) + (box?.height ?? 9_999), `${lang} ${name} ${place}`).to.be.below(640);
        }
      }
    await close(watched);
  });

  it('says of each state what is so, and what to do', async () => {
    const watched = await open();
    const { page } = watched;
    const said = async (name: string) => {
      await show(watched, state(name));
      return (await readText(page.locator('#state'))).replaceAll(/\s+/g, ' ');
    };
    expect(await said('pending')).to.match(/^Waiting for your payment Time left: 5\d:\d\d \(until /);
    expect(await said('seen')).to.match(/There is nothing to send now\..*\d+ of 15 confirmations$/);
    expect(await said('seenInPart')).to.match(/Time left:.*15 USDT is still missing\..*confirmations$/);
    expect(await said('partialToTheUnit')).to.include('14.999999999999999999 USDT is still missing.');
    expect(await readText(page.locator('#amount'))).to.equal('14.999999999999999999');
    expect(await readText(page.locator('#arrived'))).to.equal('Arrived: 10.000000000000000001 of 25 USDT.');
    expect(await said('failed')).to.match(/^Waiting for your payment/);
    // What failed is given back: it pays nothing, and is not shown as if it did.
    expect(await page.locator('#seen').count()).to.equal(0);
    expect(await said('overpaid')).to.include('You sent 5 USDT more than was asked for.');
    expect(await said('underpaid')).to.include('A little less than asked for has arrived, and is accepted');
    expect(await said('over')).to.include('Do not send anything now.');
    expect(await said('overButSeen')).to.include('still counts, once it is seen here');
    expect(await said('unpayable')).to.include('nobody would see it');
    expect(await said('expired')).to.include('Do not send money for it.');
    expect(await said('expiredInPart')).to.include('Something has arrived');
    expect(await said('late')).to.include('It is not lost: ask the shop');
    expect(await readText(page.locator('#late'))).to.match(
      /25 USDT on BNB Chain.*too late.*does not count for this link.*0x[0-9a-f]{64}/s,
    );
    expect(await said('cancelled')).to.include('The shop can make a new link.');
    await close(watched);
  });

  it('is done by keyboard alone, in the order in which it is read', async () => {
    const watched = await open({ javaScriptEnabled: false });
    const { page } = watched;
    await show(watched, state('pending'));
    expect(await tabStops(page)).to.deep.equal([
      'BNB Chain (BEP-20) Fee: a few cents · under a minute',
      'Tron (TRC-20) Fee: a few dollars · about 2 minutes',
      'Code with the amount, for wallets that read it',
      'About the amount, the coin and the time',
      'Back to shop.example',
      'Stop that',
      'Deutsch',
    ]);
    await page.locator('.ways a').nth(1).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/network=tron/);
    await page.locator('summary').last().focus();
    await page.keyboard.press('Enter');
    expect(await readText(page.locator('[data-part="contract"]'))).to.match(/^T/);
    await page.getByText('Deutsch').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/network=tron&lang=de/);
    expect(await readText(page.locator('.ways [aria-current="true"]'))).to.include('Tron');
    await close(watched);
  });

  it('gives the address as one text to whoever selects it', async () => {
    const watched = await open();
    await show(watched, state('pending'));
    const [selected, alone] = await watched.page.evaluate<[string, string]>(`(() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('#address'));
      getSelection().addRange(range);
      return [String(getSelection()), document.querySelector('#address').textContent];
    })()`);
    expect(selected).to.match(/^0x[0-9a-fA-F]{40}$/);
    expect(alone).to.equal(selected);
    await close(watched);
  });

  it('prints a receipt that says all and offers nothing', async () => {
    const watched = await open();
    const { page } = watched;
    await show(watched, state('paid'));
    await page.emulateMedia({ media: 'print' });
    const text = await readText(page.locator('body'));
    for (const part of ['Shop', '25.00 USD', '25 USDT', 'Order 1001', 'Tron (TRC-20)', 'Paid', ' UTC'])
      expect(text).to.include(part);
    expect(text).not.to.match(/Continue|Deutsch|Copy|Print or save/);
    expect(await page.locator('[data-part="transaction"]').count()).to.equal(2);
    await close(watched);
  });

  it('speaks the browser’s language until the payer takes another', async () => {
    const watched = await open({ locale: 'de-AT' });
    const { page } = watched;
    await show(watched, state('partialToTheUnit'));
    expect(await page.title()).to.equal(`${wordsOf('de').states.partial.title} – Shop`);
    expect(await readText(page.locator('main')))
      .to.include('25,00 USD')
      .and.include('14.999999999999999999 USDT');
    await page.getByRole('link', { name: 'English' }).click();
    expect(await page.title()).to.equal('Part of it has arrived – Shop');
    await show(watched, state('unknown'));
    expect(await readText(page.locator('h1'))).to.equal('Diesen Zahlungslink gibt es nicht');
    await close(watched);
  });
});

/** Texts that are wider or higher than the box which hides the rest of them. */
async function cutTexts(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`[...document.querySelectorAll('body *:not(progress):not(.hidden)')]
    .filter((element) => getComputedStyle(element).overflow !== 'visible' && element.clientWidth > 0)
    .filter((element) => element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1)
    .filter((element) => !(element instanceof SVGElement))
    .map((element) => element.outerHTML.slice(0, 100))`);
}

/** Things to press that are smaller than a finger; a link within a sentence is as high as its line. */
async function smallTargets(page: Page): Promise<string[]> {
  return await page.evaluate<
    string[]
  >(`[...document.querySelectorAll('a, button, summary, input:not([type=hidden])')]
    .filter((element) => element.getClientRects().length > 0 && element.getBoundingClientRect().height < 43.9)
    .map((element) => element.outerHTML.slice(0, 100))`);
}

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
