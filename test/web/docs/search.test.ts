import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../../dev/support/browser.ts';
import { termsOf } from '../../../src/web/docs/search.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { openPage, readText } from '../../support/http/browser.ts';

describe('the search in the documentation', function () {
  this.timeout(60_000);
  let api: TestApi;
  let browser: Browser;
  before(async () => {
    [api, browser] = await Promise.all([startTestApi(), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await api?.stop();
  });

  const search = async (query: string) =>
    (await call(`${api.origin}/docs/search?q=${encodeURIComponent(query)}`)).text;
  const firstOf = (page: string) => /<ol id="results">\s*<li><a href="([^"]+)"/.exec(page)?.[1];

  it('finds guides, calls, events and schemas by their words, also by a part of one', async () => {
    expect(firstOf(await search('idempotency'))).to.equal('/docs/idempotency');
    expect(firstOf(await search('rotat secret'))).to.equal('/docs/webhooks#changing-the-secret');
    expect(firstOf(await search('POST /request-payment'))).to.match(/^\/docs#/);
    expect(await search('deposit.settled')).to.include('deposit.settled</strong>');
    expect(await search('remaining_amount_usd')).to.include('/docs/schemas#schema-PaymentLink"');
  });

  it('says that nothing was found, and leads to all headings', async () => {
    const page = await search('zebra');
    expect(page).to.include('Nothing has all of these words.').and.include('<a href="search">');
    const all = await search('');
    for (const heading of ['Changing the secret', 'POST /customers', 'PaymentLink'])
      expect(all).to.include(`>${heading}</a>`);
  });

  it('looks for ten words, each once, however many are asked for', () => {
    expect(termsOf('E e '.repeat(50))).to.deep.equal(['e']);
    expect(termsOf('a b c d e f g h i j k l')).to.deep.equal([...'abcdefghij']);
  });

  it('takes any query for text', async () => {
    for (const query of ['"><script>x</script>', '[(*', '\\', '$&', 'a'.repeat(10_000), '‮x', '%00']) {
      const answer = await call(`${api.origin}/docs/search?q=${encodeURIComponent(query)}`);
      expect(answer.status, query.slice(0, 20)).to.equal(200);
      expect(answer.text).not.to.include('<script>x');
    }
    expect((await call(`${api.origin}/docs/search?q=a&q=b`)).status).to.equal(200);
  });

  it('works without script', async () => {
    const { page, context } = await openPage(browser, api.origin, { javaScriptEnabled: false });
    await page.goto(`${api.origin}/docs`);
    await page.getByRole('searchbox').fill('confirmations');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/search?q=confirmations');
    await page.locator('#results a').first().click();
    expect(new URL(page.url()).pathname).to.match(/^\/docs/);
    await context.close();
  });

  it('is done by keyboard alone, asking nobody else', async () => {
    const { page, context, complaints, requests } = await openPage(browser, api.origin);
    await page.goto(`${api.origin}/docs/start`);
    await page.keyboard.press('/');
    await page.keyboard.type('resend failed');
    await page.locator('.found a').first().waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('.found').count()).to.equal(0);
    await page.keyboard.type(' since');
    await page.locator('.found a').first().waitFor();
    await page.keyboard.press('ArrowDown');
    const title = await readText(page.locator('.found a:focus strong'));
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname !== '/docs/start');
    expect(title).to.match(/resend|outage/i);
    expect(requests.some((path) => path.startsWith('/docs/search?q='))).to.equal(true);
    await context.close();
    expect(complaints).to.deep.equal([]);
  });
});
