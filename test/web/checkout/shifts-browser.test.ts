import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../../dev/support/browser.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { cancelPaymentLink } from '../../../dev/support/use-cases.ts';
import { LANGS } from '../../../src/web/words/index.ts';
import { openPage } from '../../support/http/browser.ts';
import { shiftsOf, watchShifts } from '../../support/http/shifts.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const NEWS_MS = 3_000;
type Link = Awaited<ReturnType<Shop['link']>>;
/** What happens to a link, and the state that the page shows after it. */
type Step = readonly [status: string, happens: (link: Link) => Promise<unknown>];

describe('the checkout moves nothing by itself', function () {
  this.timeout(120_000);
  let shop: Shop;
  let browser: Browser;
  before(async () => {
    [shop, browser] = await Promise.all([startShop(), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  const pay = async (
    link: Link,
    coins: string,
    state: 'detected' | 'confirming' | 'failed' | 'completed',
  ) => {
    shop.pass(1);
    await shop.pay(link.customer_id, { coins, state });
  };
  const ways: Readonly<Record<string, readonly Step[]>> = {
    'in parts, until it is paid': [
      ['processing', (link) => pay(link, '10', 'detected')],
      ['partially_paid', (link) => complete(link)],
      ['processing', (link) => pay(link, '4.25', 'confirming')],
      ['partially_paid', (link) => complete(link)],
      ['processing', (link) => pay(link, '50', 'detected')],
      ['completed', (link) => complete(link)],
    ],
    'in odd parts': [
      ['processing', (link) => pay(link, '10.000000000000000001', 'confirming')],
      ['partially_paid', (link) => complete(link)],
      ['processing', (link) => pay(link, '5.5', 'detected')],
      ['partially_paid', (link) => complete(link, 'failed')],
      ['processing', (link) => pay(link, '14.999999999999999999', 'confirming')],
      ['completed', (link) => complete(link)],
    ],
    'at once, and taken back': [
      ['processing', (link) => pay(link, '25', 'detected')],
      ['pending', (link) => complete(link, 'failed')],
    ],
    'at once, to the end': [
      ['processing', (link) => pay(link, '25', 'confirming')],
      ['completed', (link) => complete(link)],
    ],
    'not at all': [
      [
        'cancelled',
        ({ id }) => cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode: 'live', id }),
      ],
    ],
  };
  /** Every deposit of the link that waits goes on to its end. */
  const complete = async ({ id }: Link, to: 'completed' | 'failed' = 'completed') => {
    const rows = await shop.sql<{ id: string; status: string }>(
      "select id, status from deposits where payment_link_id = ? and status in ('detected', 'confirming')",
      [id],
    );
    for (const row of rows) {
      if (to === 'completed' && row.status === 'detected') await shop.move(row.id, 'confirming');
      await shop.move(row.id, to, to === 'failed' ? 'REORGED' : null);
    }
  };

  for (const viewport of [
    { width: 320, height: 640 },
    { width: 390, height: 844 },
    { width: 1280, height: 1600 },
  ])
    for (const lang of LANGS)
      it(`in any change of an open link, ${viewport.width} pixels wide, ${lang}`, async () => {
        const { page, context, requests } = await openPage(browser, shop.api.origin, { viewport });
        for (const [name, steps] of Object.entries(ways)) {
          const link = await shop.link({
            customerId: await shop.customer(),
            cancelUrl: 'https://shop.example/',
            successUrl: 'https://shop.example/',
          });
          await page.goto(`${shop.api.origin}/pay/${link.token}?lang=${lang}`);
          const stream = `/pay/${link.token}/live?lang=${lang}`;
          await eventually('the stream', () => requests.includes(stream));
          await watchShifts(page);
          for (const [status, happens] of steps) {
            await happens(link);
            await page.locator(`[data-status="${status}"]`).waitFor({ timeout: NEWS_MS });
            expect(await shiftsOf(page), `${name}: ${status}`).to.deep.equal([]);
          }
        }
        await context.close();
      });
});
