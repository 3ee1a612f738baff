import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../../dev/support/browser.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { NETWORKS, type Network } from '../../../src/domain/assets.ts';
import { LANGS } from '../../../src/web/words/index.ts';
import { barriers } from '../../support/http/axe.ts';
import { faintTexts, openPage, overflowOf, readText, type WatchedPage } from '../../support/http/browser.ts';
import { shiftsOf, watchShifts } from '../../support/http/shifts.ts';
import { type Pay, type Shop, startShop } from '../../support/payment-shop.ts';

const PHONE = { width: 320, height: 640 };
const NEWS_MS = 3_000;

type State = { readonly path: string; readonly status: string; readonly watched: readonly Network[] };

describe('the page of a customer’s addresses in a browser', function () {
  this.timeout(120_000);
  let shop: Shop;
  let browser: Browser;
  const states = new Map<string, State>();

  const tokenOf = async (id: string) =>
    (await shop.sql<{ token: string }>('select page_token as token from customers where id = ?', [id]))[0]
      ?.token;
  const make = async (money: readonly Pay[] = [], mode: 'live' | 'test' = 'live') => {
    const id = await shop.customer(mode);
    for (const one of money) {
      shop.pass(1);
      await shop.pay(id, one);
    }
    return { id, path: `/address/${await tokenOf(id)}` };
  };

  before(async () => {
    [shop, browser] = await Promise.all([startShop(), startBrowser()]);
    const many = Array.from({ length: 12 }, (_, index): Pay => ({ coins: `${index + 1}` }));
    const known: readonly [string, string, readonly Pay[]][] = [
      ['empty', 'empty', []],
      ['detected', 'seen', [{ coins: '5', state: 'detected' }]],
      ['confirming', 'seen', [{ coins: '5' }, { coins: '7.000000000000000001', state: 'confirming' }]],
      ['completed', 'arrived', [{ coins: '5', network: 'tron' }]],
      ['settled', 'arrived', [{ coins: '5', state: 'settled' }]],
      ['reorged', 'failed', [{ coins: '5' }, { coins: '7', state: 'failed' }]],
      ['many', 'arrived', many],
    ];
    for (const [name, status, money] of known)
      states.set(name, { ...(await make(money)), status, watched: NETWORKS });
    states.set('test', { ...(await make([{ coins: '5' }], 'test')), status: 'arrived', watched: NETWORKS });
    states.set('one network', { ...(await make()), status: 'empty', watched: ['tron'] });
    states.set('none watched', { ...(await make([])), status: 'unwatched', watched: [] });
    states.set('unknown', { path: `/address/ap_${'A'.repeat(32)}`, status: '', watched: NETWORKS });
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  const open = async (options: Parameters<typeof openPage>[2] = {}) =>
    await openPage(browser, shop.api.origin, { viewport: PHONE, ...options });
  const show = async ({ page }: WatchedPage, { path, watched }: State, query = '') => {
    Object.assign(shop.deps.settings.payments, { watchedNetworks: watched });
    await page.goto(shop.api.origin + path + query);
  };
  const close = async ({ context, complaints }: WatchedPage) => {
    await context.close();
    expect(complaints.filter((text) => !/404|^failed request: .*\/live\?/.test(text))).to.deep.equal([]);
  };
  const shows = async ({ page }: WatchedPage, status: string) =>
    await page.locator(`[data-status="${status}"]`).waitFor({ timeout: NEWS_MS });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const lang of LANGS)
      it(`is whole, and read by everybody, on a phone, ${lang}, ${colorScheme}`, async () => {
        const watched = await open({ colorScheme, isMobile: true, deviceScaleFactor: 2 });
        const { page } = watched;
        for (const [name, one] of states) {
          await show(watched, one, `?lang=${lang}`);
          await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
          expect(await page.locator('h1').count(), name).to.equal(1);
          if (one.status)
            expect(await page.locator('#state').getAttribute('data-status'), name).to.equal(one.status);
          expect(await overflowOf(page), name).to.equal(0);
          expect(await faintTexts(page, 4.5), name).to.deep.equal([]);
          expect(await barriers(page, `address-${name}-${lang}-${colorScheme}`), name).to.deep.equal([]);
          expect(await readText(page.locator('body')), name).not.to.match(/undefined|NaN|\[object/);
        }
        await close(watched);
      });

  it('stays whole where text is twice as large', async () => {
    const watched = await open({ viewport: { width: 640, height: 900 } });
    for (const [name, one] of states) {
      await show(watched, one, '?lang=de');
      await watched.page.evaluate(`document.documentElement.style.fontSize = '200%'`);
      expect(await overflowOf(watched.page), name).to.equal(0);
    }
    await close(watched);
  });

  it('gives each network’s address, its code and a wallet’s link, without script too', async () => {
    const { id, path } = await make();
    const rows = await shop.sql<{ network: Network; address: string }>(
      'select network, address from deposit_addresses where customer_id = ?',
      [id],
    );
    const of = (network: Network) => rows.find((row) => row.network === network)?.address ?? '';
    for (const javaScriptEnabled of [true, false]) {
      const watched = await open({ javaScriptEnabled });
      const { page } = watched;
      await show(watched, { path, status: '', watched: NETWORKS });
      expect(await readText(page.locator('[data-part="address"]'))).to.equal(of('bsc'));
      const text = await readText(page.locator('main'));
      expect(text).to.include('Send only USDT or BNB on BNB Chain (BEP-20)');
      const wallet = page.getByRole('link', { name: 'Open in a wallet on this device' });
      expect(await wallet.getAttribute('href')).to.match(new RegExp(`^ethereum:${of('bsc')}@\\d+$`));
      expect(await page.getByRole('img', { name: /^QR code/ }).getAttribute('aria-label')).to.include(
        of('bsc'),
      );
      await page.getByRole('link', { name: /^Tron/ }).click();
      expect(await readText(page.locator('[data-part="address"]'))).to.equal(of('tron'));
      expect(await wallet.getAttribute('href')).to.equal(`tron:${of('tron')}`);
      await page.getByRole('link', { name: 'Deutsch' }).click();
      expect(await readText(page.locator('main'))).to.include(
        'Senden Sie nur USDT oder TRX über Tron (TRC-20)',
      );
      await close(watched);
    }
  });

  it('copies the address', async () => {
    const { path } = await make();
    const watched = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = watched;
    await show(watched, { path, status: '', watched: NETWORKS });
    await page.getByRole('button', { name: 'Copy: address' }).click();
    const shown = await readText(page.locator('[data-part="address"]'));
    await eventually(
      'the copy',
      async () => (await page.evaluate('navigator.clipboard.readText()')) === shown,
    );
    await close(watched);
  });

  for (const viewport of [PHONE, { width: 1280, height: 1600 }])
    it(`follows every deposit without a reload, and moves nothing, ${viewport.width} pixels wide`, async () => {
      const { id, path } = await make();
      const watched = await open({ viewport });
      const { page, requests } = watched;
      await show(watched, { path, status: '', watched: NETWORKS });
      await eventually('the stream', () => requests.some((one) => one.endsWith('/live')));
      await watchShifts(page);
      shop.pass(1);
      const first = await shop.pay(id, { coins: '5', state: 'detected' });
      await shows(watched, 'seen');
      expect(await readText(page.locator('#deposits'))).to.match(
        /5 USDT on BNB Chain.*\n.*UTC.*\n.*0 of 15 confirmations/,
      );
      await shop.move(first, 'confirming');
      await shop.move(first, 'completed');
      await shows(watched, 'arrived');
      expect(await readText(page.locator('#row-1'))).to.include('Confirmed');
      shop.pass(1);
      const second = await shop.pay(id, { coins: '7', state: 'detected' });
      await shows(watched, 'seen');
      await shop.move(second, 'failed', 'REORGED');
      await shows(watched, 'failed');
      expect(await readText(page.locator('#row-1')))
        .to.include('7 USDT')
        .and.include('The network took it back');
      expect(await readText(page.locator('#row-2'))).to.include('5 USDT');
      expect(requests.filter((one) => one === path)).to.have.length(1);
      expect(await shiftsOf(page)).to.deep.equal([]);
      await close(watched);
    });

  it('plays a deposit through for a test customer, by its form', async () => {
    const { path } = await make([], 'test');
    const watched = await open();
    const { page } = watched;
    await show(watched, { path, status: '', watched: NETWORKS });
    expect(await page.title()).to.match(/^TEST/);
    expect(await page.getByRole('link', { name: /wallet/ }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Receive 10 USDT' }).click();
    await shows(watched, 'arrived');
    expect(new URL(page.url()).pathname).to.equal(path);
    expect(await readText(page.locator('#state'))).to.include('10 USDT is confirmed.');
    await close(watched);
  });
});
