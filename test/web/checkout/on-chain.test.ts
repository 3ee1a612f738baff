import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../../../dev/support/browser.ts';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { serve } from '../../../dev/support/served.ts';
import { createPaymentLink } from '../../../dev/support/use-cases.ts';
import { getAddressPageLink } from '../../../src/services/address-pages/links.ts';
import { openPage, readText } from '../../support/http/browser.ts';
import { shiftsOf, watchShifts } from '../../support/http/shifts.ts';

/** A payer who only looks: nothing on the page is loaded again or clicked while money comes in. */
describe('the checkout while real USDT arrives', function () {
  this.timeout(150_000);
  let live: LiveMoney;
  let browser: Browser;
  let served: Awaited<ReturnType<typeof serve>>;

  before(async () => {
    [live, browser] = await Promise.all([startLiveMoney({ env: { LOG_LEVEL: 'fatal' } }), startBrowser()]);
    served = await serve(live.gateway.deps);
  });
  after(async () => {
    await browser?.close();
    await served?.stop();
    await live?.stop();
  });

  const newLink = async () => {
    const customer = await live.newCustomer();
    const { link } = await createPaymentLink(live.gateway.deps, {
      merchantId: live.merchantId,
      mode: 'live',
      customerId: customer.id,
      amountCents: 2_500n,
      publicUrl: served.origin,
      successUrl: 'https://shop.example/orders/7',
    });
    return { url: link.url, address: customer.address };
  };
  const pay = (address: string, units: bigint) => live.chain.usdt.call('transfer', [address, units]);
  const turns = (page: Page, status: string) =>
    page.locator(`[data-status="${status}"]`).waitFor({ state: 'attached', timeout: 40_000 });

  it('turns from pending over seen and partly paid to paid in two tabs, without a reload', async () => {
    const { url, address } = await newLink();
    const watched = await openPage(browser, served.origin);
    const { page, context } = watched;
    await page.goto(url);
    const other = await context.newPage();
    await other.goto(url);
    await page.evaluate('window.notReloaded = true');
    await page.bringToFront();
    await watchShifts(page);
    const shown = await readText(page.locator('[data-part="address"]'));
    expect(shown.replaceAll(/\s/g, '').toLowerCase()).to.equal(address);
    await pay(address, 10n * USDT_UNIT);
    await live.chain.mine(1);
    await turns(page, 'processing');
    expect(await readText(page.locator('#state'))).to.match(/of 3/);
    await live.chain.mine(6);
    await turns(page, 'partially_paid');
    expect(await readText(page.locator('[data-part="amount"]'))).to.equal('15');
    const last = await pay(address, 15n * USDT_UNIT);
    await live.chain.mine(7);
    await turns(page, 'completed');
    expect(await readText(page.locator('main'))).to.include(last);
    expect(await page.locator('[data-part="address"]').count()).to.equal(0);
    expect(await page.evaluate('window.notReloaded')).to.equal(true);
    expect(await shiftsOf(page)).to.deep.equal([]);
    await other.bringToFront();
    await turns(other, 'completed');
    expect(await page.getByRole('link', { name: /shop\.example/ }).getAttribute('href')).to.equal(
      'https://shop.example/orders/7',
    );
    await context.close();
    expect(watched.complaints).to.deep.equal([]);
  });

  it('shows a customer’s deposit on the page of the addresses: seen, confirmed, and one that is taken back', async () => {
    const { id, address } = await live.newCustomer();
    const owner = { merchantId: live.merchantId, mode: 'live', id, publicUrl: served.origin } as const;
    const { url } = await getAddressPageLink(live.gateway.deps, owner);
    const { page, context, complaints } = await openPage(browser, served.origin);
    await page.goto(url);
    await turns(page, 'empty');
    const shown = await readText(page.locator('[data-part="address"]'));
    expect(shown.replaceAll(/\s/g, '').toLowerCase()).to.equal(address);
    await watchShifts(page);
    const paid = await pay(address, 10n * USDT_UNIT);
    await live.chain.mine(1);
    await turns(page, 'seen');
    expect(await readText(page.locator('#state'))).to.match(/of 3/);
    await live.chain.mine(6);
    await turns(page, 'arrived');
    expect(await readText(page.locator('#row-1')))
      .to.include('10 USDT')
      .and.include('Confirmed')
      .and.include(paid);
    await pay(address, 4n * USDT_UNIT);
    await live.chain.mine(1);
    await turns(page, 'seen');
    await live.chain.reorg(1);
    await live.chain.mine(7);
    await turns(page, 'failed');
    expect(await readText(page.locator('#row-1')))
      .to.include('4 USDT')
      .and.include('took it back');
    expect(await shiftsOf(page)).to.deep.equal([]);
    await context.close();
    expect(complaints).to.deep.equal([]);
  });

  it('takes back what it said of a payment whose block was replaced', async () => {
    const { url, address } = await newLink();
    const { page, context, complaints } = await openPage(browser, served.origin);
    await page.goto(url);
    await pay(address, 25n * USDT_UNIT);
    await live.chain.mine(1);
    await turns(page, 'processing');
    await live.chain.reorg(1);
    await live.chain.mine(5);
    await turns(page, 'pending');
    expect(await readText(page.locator('[data-part="amount"]'))).to.equal('25');
    await context.close();
    expect(complaints).to.deep.equal([]);
  });
});
