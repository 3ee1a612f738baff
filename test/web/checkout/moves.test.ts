import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually } from '../../../dev/support/eventually.ts';
import { cancelPaymentLink } from '../../../dev/support/use-cases.ts';
import { openPage, readText } from '../../support/http/browser.ts';
import { shiftsOf, watchShifts } from '../../support/http/shifts.ts';
import { shopStage } from '../../support/http/stage.ts';
import type { Shop } from '../../support/payment-shop.ts';

const PHONE = { width: 320, height: 640 };
type Link = Awaited<ReturnType<Shop['link']>>;

describe('a payer’s page turns without a reload, and moves nothing by itself', function () {
  this.timeout(120_000);
  const the = shopStage({ pay: { times: { lookEveryMs: 100 } } });

  /** What happens to a link, and the state that the page shows after it. */
  type Step = readonly [status: string, happens: (link: Link) => Promise<unknown>];
  const pays = (coins: string, to: 'detected' | 'confirming') => async (link: Link) => {
    the.shop.pass(1);
    await the.shop.pay(link.customer_id, { coins, state: to });
  };
  /** Every deposit of the link that waits goes on to its end. */
  const ends =
    (to: 'completed' | 'failed') =>
    async ({ id }: Link) => {
      const rows = await the.shop.sql<{ id: string; status: string }>(
        "select id, status from deposits where payment_link_id = ? and status in ('detected', 'confirming')",
        [id],
      );
      for (const row of rows) {
        if (to === 'completed' && row.status === 'detected') await the.shop.move(row.id, 'confirming');
        await the.shop.move(row.id, to, to === 'failed' ? 'REORGED' : null);
      }
    };
  const ways: Readonly<Record<string, readonly Step[]>> = {
    'in odd parts, until it is paid': [
      ['processing', pays('10.000000000000000001', 'confirming')],
      ['partially_paid', ends('completed')],
      ['processing', pays('5.5', 'detected')],
      ['partially_paid', ends('failed')],
      ['processing', pays('50', 'detected')],
      ['completed', ends('completed')],
    ],
    'at once, and taken back': [
      ['processing', pays('25', 'detected')],
      ['pending', ends('failed')],
    ],
    'not at all': [
      [
        'cancelled',
        ({ id }) => cancelPaymentLink(the.shop.deps, { merchantId: the.shop.merchantId, mode: 'live', id }),
      ],
    ],
  };
  for (const [viewport, lang] of [
    [PHONE, 'de'],
    [{ width: 1280, height: 1600 }, 'en'],
  ] as const)
    it(`in any change of an open link, ${viewport.width} pixels wide, ${lang}`, async () => {
      const { page, context, requests } = await openPage(the.browser, the.shop.api.origin, { viewport });
      for (const [name, steps] of Object.entries(ways)) {
        const link = await the.shop.link({
          customerId: await the.shop.customer(),
          cancelUrl: 'https://shop.example/',
          successUrl: 'https://shop.example/',
        });
        await page.goto(`${the.shop.api.origin}/pay/${link.token}?lang=${lang}`);
        await eventually('the stream', () => requests.includes(`/pay/${link.token}/live?lang=${lang}`));
        await watchShifts(page);
        let isFolded = false;
        for (const [status, happens] of steps) {
          await happens(link);
          await turnsTo(page, status);
          const wasFolded = isFolded;
          isFolded = (await page.locator('#anyway').count()) > 0;
          // That the way to pay is folded where a payment fails is meant to be seen.
          if (isFolded || wasFolded) await watchShifts(page);
          else expect(await shiftsOf(page), `${name}: ${status}`).to.deep.equal([]);
        }
      }
      await context.close();
    });

  it('in anything that becomes of a customer’s deposits', async () => {
    const id = await the.shop.customer();
    const path = `/address/${await the.shop.pageToken(id)}`;
    const { page, context, requests } = await openPage(the.browser, the.shop.api.origin, { viewport: PHONE });
    const turns = (to: string) => turnsTo(page, to);
    await page.goto(the.shop.api.origin + path);
    await eventually('the stream', () => requests.some((one) => one.endsWith('/live')));
    await watchShifts(page);
    the.shop.pass(1);
    const first = await the.shop.pay(id, { coins: '5', state: 'detected' });
    await turns('seen');
    expect(await readText(page.locator('#deposits'))).to.match(
      /5 USDT on BNB Chain.*\n.*UTC.*\n.*0 of 15 confirmations/,
    );
    await the.shop.move(first, 'confirming');
    await the.shop.move(first, 'completed');
    await turns('arrived');
    expect(await readText(page.locator('#row-1'))).to.include('Confirmed');
    the.shop.pass(1);
    const second = await the.shop.pay(id, { coins: '7', state: 'detected' });
    await turns('seen');
    await the.shop.move(second, 'failed', 'REORGED');
    await turns('failed');
    expect(await readText(page.locator('#row-1')))
      .to.include('7 USDT')
      .and.include('The network took it back');
    expect(await readText(page.locator('#row-2'))).to.include('5 USDT');
    expect(requests.filter((one) => one === path)).to.have.length(1);
    expect(await shiftsOf(page)).to.deep.equal([]);
    await context.close();
  });
});

async function turnsTo(page: Page, status: string): Promise<void> {
  await page.locator(`[data-status="${status}"]`).waitFor({ timeout: 45_000 });
}
