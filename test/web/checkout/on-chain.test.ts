import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { sharedBrowser } from '../../../dev/support/browser.ts';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { serve } from '../../../dev/support/served.ts';
import { createPaymentLink } from '../../../dev/support/use-cases.ts';
import { getAddressPageLink } from '../../../src/services/address-pages/links.ts';
import { openPage, readText } from '../../support/http/browser.ts';

/** A payer who only looks: nothing on the page is loaded again or clicked while money comes in. */
describe('the checkout while real USDT arrives', function () {
  this.timeout(150_000);
  let live: LiveMoney;
  let browser: Browser;
  let served: Awaited<ReturnType<typeof serve>>;

  before(async () => {
    [live, browser] = await Promise.all([startLiveMoney({ env: { LOG_LEVEL: 'fatal' } }), sharedBrowser()]);
    served = await serve(live.gateway.deps);
  });
  after(async () => {
    await served?.stop();
    await live?.stop();
  });

  const pay = (address: string, units: bigint) => live.chain.usdt.call('transfer', [address, units]);

  it('turns on the pages of a link and of its customer, as blocks come and are replaced', async () => {
    const { id, address } = await live.newCustomer();
    const owner = { merchantId: live.merchantId, mode: 'live', publicUrl: served.origin } as const;
    const { link } = await createPaymentLink(live.gateway.deps, {
      ...owner,
      customerId: id,
      amountCents: 2_500n,
      successUrl: 'https://shop.example/orders/7',
    });
    const addresses = await getAddressPageLink(live.gateway.deps, { ...owner, id });
    const watched = await openPage(browser, served.origin);
    const { page, context } = watched;
    await page.goto(link.url);
    const other = await context.newPage();
    await other.goto(addresses.url);
    for (const one of [page, other]) {
      await one.evaluate('window.notReloaded = true');
      const shown = await readText(one.locator('[data-part="address"]'));
      expect(shown.replaceAll(/\s/g, '').toLowerCase()).to.equal(address);
    }
    const turn = async (status: string, state: string) => {
      for (const [one, to] of [
        [page, status],
        [other, state],
      ] as const) {
        await one.bringToFront();
        await one.locator(`[data-status="${to}"]`).waitFor({ state: 'attached', timeout: 45_000 });
      }
    };
    await turn('pending', 'empty');
    await pay(address, 10n * USDT_UNIT);
    await live.chain.mine(1);
    await turn('processing', 'seen');
    expect(await readText(page.locator('#state'))).to.match(/of 3/);
    await live.chain.reorg(1);
    await live.chain.mine(7);
    await turn('pending', 'failed');
    expect(await readText(page.locator('[data-part="amount"]'))).to.equal('25');
    expect(await readText(other.locator('#row-1')))
      .to.include('10 USDT')
      .and.include('took it back');
    await pay(address, 10n * USDT_UNIT);
    await live.chain.mine(7);
    await turn('partially_paid', 'arrived');
    expect(await readText(page.locator('[data-part="amount"]'))).to.equal('15');
    const last = await pay(address, 15n * USDT_UNIT);
    await live.chain.mine(7);
    await turn('completed', 'arrived');
    expect(await readText(page.locator('main'))).to.include(last);
    expect(await page.locator('[data-part="address"]').count()).to.equal(0);
    const onward = page.getByRole('link', { name: /shop\.example/ });
    expect(await onward.getAttribute('href')).to.equal('https://shop.example/orders/7');
    for (const one of [page, other]) expect(await one.evaluate('window.notReloaded')).to.equal(true);
    await context.close();
    expect(watched.complaints).to.deep.equal([]);
  });
});
