import { expect } from 'chai';
import { barriers } from '../../../support/http/axe.ts';
import { overflowOf } from '../../../support/http/browser.ts';
import { busyMerchant } from '../../../support/http/busy-merchant.ts';
import { openDashboard, unexpected } from '../../../support/http/dashboard.ts';
import { browserStage } from '../../../support/http/stage.ts';

/** No page is larger: nobody waits for a table. */
const MOST_BYTES = 100_000;

describe('what the dashboard shows', function () {
  this.timeout(120_000);
  const the = browserStage();

  it('is there for everybody: empty, full and refused, light and dark, on a phone and a wide desk', async () => {
    const busy = await busyMerchant(the.api);
    const settled = await busy.eventOf(busy.deposits.settled, 'deposit.settled');
    const created = await busy.eventOf(busy.customerId, 'customer.created');
    const lists = ['', '/deposits', '/payouts', '/payouts/balances', '/events'];
    const paths = [
      ...lists.flatMap((path) => [path, `/test${path}`]),
      ...Object.values(busy.deposits).map((id) => `/deposits/${id}`),
      ...Object.values(busy.payouts).map((id) => `/payouts/${id}`),
      `/events/${settled}`,
      `/events/${created}`,
      '/deposits?status=completed&network=tron',
      '/deposits?status=gone&network=eth&currency=x&customer_id=1&transaction_hash=1&created_from=1',
      '/payouts?state=gone',
      '/events?type=gone',
      '/events/unknown',
    ];
    for (const [colorScheme, width] of [
      ['light', 320],
      ['dark', 1280],
    ] as const) {
      const signedIn = await openDashboard(the.browser, the.api, {
        merchantId: busy.merchantId,
        colorScheme,
        viewport: { width, height: 800 },
      });
      const { page, context } = signedIn;
      for (const path of paths) {
        const answer = await page.goto(`${the.api.origin}/dashboard${path}`);
        const at = `${path} ${colorScheme} ${width}`;
        expect((await answer?.body())?.length, at).to.be.lessThan(MOST_BYTES);
        expect(await overflowOf(page), at).to.equal(0);
        expect(await barriers(page), at).to.deep.equal([]);
      }
      await context.close();
      expect(unexpected(signedIn, 400, 404)).to.deep.equal([]);
    }
  });
});
