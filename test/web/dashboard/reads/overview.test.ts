import { expect } from 'chai';
import { call } from '../../../support/gateway.ts';
import { readText } from '../../../support/http/browser.ts';
import { busyMerchant } from '../../../support/http/busy-merchant.ts';
import { openDashboard, unexpected } from '../../../support/http/dashboard.ts';
import { signedInPages } from '../../../support/http/pages.ts';
import { browserStage } from '../../../support/http/stage.ts';
import { pay } from '../../../support/payment-shop.ts';

describe('the overview of the dashboard', function () {
  this.timeout(60_000);
  const the = browserStage();

  it('says to a new merchant that nothing is there, and what to do first', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const pages = await signedInPages(the.api, merchantId);
    for (const [path, first] of [
      ['/dashboard', '/dashboard/customers'],
      ['/dashboard/test', '/dashboard/test/simulate'],
    ] as const) {
      const { status, text } = await pages.get(path);
      expect(status).to.equal(200);
      expect(text)
        .to.include('No deposits yet')
        .and.to.include(`class="button" href="${first}"`)
        .and.to.include('Nothing waits at the moment')
        .and.to.include('No deposit was completed in the last 30 days')
        .and.not.to.include('<svg role="img"');
    }
  });

  it('shows balances as the API has them, what waits for whom, each day, and the endpoint that fails', async () => {
    const busy = await busyMerchant(the.api);
    const signedIn = await openDashboard(the.browser, the.api, { merchantId: busy.merchantId });
    const { page, context } = signedIn;
    const balance = await readText(page.locator('#balance'));
    expect(balance).to.include('19.50 USD').and.to.include('16.00 USD available, 3.50 USD pending');
    expect(balance).to.include('40.000000000000000001 USDT');
    const waits = await readText(page.locator('#waiting'));
    expect(waits.indexOf('It waits for you')).to.be.lessThan(waits.indexOf('It waits for the operator'));
    expect(waits)
      .to.include('No withdraw address is set')
      .and.to.include('2 deposits that are not confirmed')
      .and.to.include('2 completed deposits')
      .and.to.include('1 failed deposit')
      .and.not.to.include('for the operator\n');
    const link = page.getByRole('link', { name: 'Set a withdraw address' });
    expect(await link.getAttribute('href')).to.equal('/dashboard/settings/withdraw');
    expect(await readText(page.getByRole('note').first()))
      .to.include('An endpoint fails')
      .and.to.include('HTTP 503')
      .and.to.include('were given up');
    const today = new Date().toISOString().slice(0, 10);
    const chart = page.getByRole('img', { name: `Highest day: 56.00 USD on ${today}` });
    expect(await chart.locator('rect').count()).to.equal(1);
    await page.getByText('The same as a table').click();
    const days = page.locator('#days').getByRole('row');
    expect(await days.count()).to.equal(31);
    expect(await readText(days.nth(1))).to.match(new RegExp(`${today}\\s+3\\s+56\\.00 USD`));
    expect(await page.locator('#latest').getByRole('row').count()).to.equal(7);
    await context.close();
    expect(unexpected(signedIn)).to.deep.equal([]);
  });

  it('counts nothing of another merchant or mode, and nothing that is over', async () => {
    const busy = await busyMerchant(the.api);
    const { id: merchantId, keys } = await the.api.newMerchant();
    const made = await call(`${the.api.url}/customers`, { key: keys.live, body: { external_id: 'one' } });
    await pay(the.api.deps, made.body['id'], { coins: '5', state: 'settled' });
    const pages = await signedInPages(the.api, merchantId);
    const { text } = await pages.get('/dashboard');
    expect(text).to.include('Nothing waits at the moment').and.not.to.include('An endpoint fails');
    for (const id of [busy.customerId, busy.endpointId, ...Object.values(busy.deposits)])
      expect(text).not.to.include(id);
    expect((await pages.get('/dashboard/test')).text).to.include('No deposits yet');
  });
});
