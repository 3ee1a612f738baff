import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { create } from 'qrcode';
import { startBrowser } from '../../../dev/support/browser.ts';
import { call } from '../../support/gateway.ts';
import { openPage, readSquares } from '../../support/http/browser.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

describe('the codes of the checkout in a browser', function () {
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

  it('draws the very code of the address, and behind it the one of the payment, dark on white with a margin, also in the dark', async () => {
    const link = await shop.link({ email: 'code@example.com' });
    const [bsc, tron] = (await call(`${shop.api.url}/payments/${link.token}`)).body['methods'];
    for (const [method, colorScheme] of [[bsc, 'light'] as const, [tron, 'dark'] as const]) {
      const watched = await openPage(browser, shop.api.origin, { colorScheme });
      const { page } = watched;
      await page.goto(`${shop.api.origin}/pay/${link.token}?network=${method.network}`);
      for (const [place, text] of [
        ['figure svg', method.address],
        ['details svg', method.payment_uri],
      ] as const) {
        expect(await page.locator(place).getAttribute('aria-label')).to.include(method.address);
        const { modules } = create(text, { errorCorrectionLevel: 'M' });
        const drawn = await readSquares(page, modules.size + 8, place);
        const expected = drawn.map((_, index) => {
          const [row, column] = [
            Math.floor(index / (modules.size + 8)) - 4,
            (index % (modules.size + 8)) - 4,
          ];
          const inside = [row, column].every((at) => at >= 0 && at < modules.size);
          return inside && modules.get(row, column) ? 1 : 0;
        });
        expect(drawn.join('')).to.equal(expected.join(''));
      }
      expect(await page.locator('details a').getAttribute('href')).to.equal(method.payment_uri);
      await watched.context.close();
      expect(watched.complaints).to.deep.equal([]);
    }
  });
});
