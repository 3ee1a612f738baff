import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FollowedPages, startFollowedPages } from './followed-pages.ts';

describe('a page whose stream breaks', function () {
  this.timeout(90_000);
  let at: FollowedPages;
  before(async () => {
    at = await startFollowedPages();
  });
  after(() => at?.stop());

  it('asks for the same every 5 s where the stream is refused, and tells no less', async () => {
    const link = await at.make();
    const watched = await at.visit(link, {}, (page) =>
      page.route(/\/live\?$/, (route) => route.fulfill({ status: 503, body: 'full' })),
    );
    const { page } = watched;
    const times: number[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('once=1')) times.push(performance.now());
    });
    await eventually('three requests', () => times.length >= 3, 15_000);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const gap of gaps) expect(gap).to.be.within(4_300, 6_500);
    await at.pay(link);
    await at.shows(page, 'processing', 7_000);
    // What is still the same is answered without a body, which the browser's driver takes for a failure.
    await at.close(watched, /503|EventSource|failed request: .*once=1$/);
  });

  it('goes on after the connection was cut, and after the server was gone for a while', async () => {
    const link = await at.make();
    const watched = await at.visit(link);
    const { page } = watched;
    await at.followed(watched);
    await at.gate.close();
    await at.pay(link);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await at.gate.open();
    await at.shows(page, 'processing', 15_000);
    expect(await page.evaluate('performance.getEntriesByType("navigation").length')).to.equal(1);
    await at.close(watched, /ERR_|failed request|console/);
  });

  it('asks for nothing in a hidden tab, and at once when it is looked at again', async () => {
    const link = await at.make();
    const watched = await at.visit(link, {}, async (page) => {
      await page.route(/\/live\?$/, (route) => route.fulfill({ status: 503, body: 'full' }));
      await page.addInitScript(`window.isHidden = false;
        Object.defineProperty(document, 'hidden', { get: () => window.isHidden });`);
    });
    const { page } = watched;
    const polls = () => at.opened(watched, /once=1$/);
    const hide = (hidden: boolean) =>
      page.evaluate(`window.isHidden = ${hidden}; document.dispatchEvent(new Event('visibilitychange'))`);
    await eventually('a request', () => polls() > 0);
    await hide(true);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = polls();
    await at.pay(link);
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    expect(polls()).to.equal(before);
    await hide(false);
    await at.shows(page, 'processing', 1_500);
    await at.close(watched, /503|EventSource|failed request: .*once=1$/);
  });

  for (const [where, lost] of [
    ['does not come', (page: Page) => page.route(/assets\/live/, (route) => route.fulfill({ status: 404 }))],
    ['does not run', (page: Page) => page.addInitScript('delete window.EventSource;')],
  ] as const)
    it(`loads itself again where its script ${where}`, async () => {
      const link = await at.make();
      const watched = await at.visit(link, {}, lost);
      await at.pay(link);
      await at.shows(watched.page, 'processing', 10_000);
      expect(at.opened(watched, /^\/pay\/[^/]+$/)).to.be.at.least(2);
      await at.close(watched, /404|integrity|EventSource|failed request/);
    });

  it('shows what is so now also where it is what was so before the stream told of something else', async () => {
    const link = await at.make();
    const view = (text: string) =>
      JSON.stringify({
        title: text,
        main: `<h1>${text}</h1>`,
        server_time: '2026-11-20T09:00:00Z',
        open: true,
      });
    let streams = 0;
    const watched = await at.visit(link, {}, async (page) => {
      await page.addInitScript(`{ const real = Date.now; Date.now = () => real() + (window.later ?? 0); }`);
      await page.route(/\/live\?$/, (route) => {
        streams += 1;
        return streams === 2
          ? route.fulfill({
              contentType: 'text/event-stream',
              body: `retry: 10\n\nevent: view\ndata: ${view('changed')}\n\n`,
            })
          : route.fulfill({ status: 503 });
      });
      await page.route(/once=1$/, (route) =>
        route.request().headers()['if-none-match'] === '"as it was"'
          ? route.fulfill({ status: 304 })
          : route.fulfill({
              contentType: 'application/json',
              headers: { ETag: '"as it was"' },
              body: view('as it was'),
            }),
      );
    });
    const { page } = watched;
    await page.locator('h1', { hasText: 'as it was' }).waitFor();
    await page.evaluate('window.later = 61000');
    await eventually('the stream', () => streams >= 3, 15_000);
    await page.locator('h1', { hasText: 'as it was' }).waitFor({ timeout: 4_000 });
    await at.close(watched, /503|EventSource|failed request|ERR_/);
  });

  it('moves nothing when its buttons for copying begin to work', async () => {
    const link = await at.make();
    let come = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      come = resolve;
    });
    const hold = (page: Page) =>
      page.route(/assets\/page/, async (route) => {
        await late;
        await route.continue();
      });
    const watched = await at.visit(link, {}, hold, 'commit');
    const { page } = watched;
    await page.locator('#last').waitFor();
    const places = () =>
      page.evaluate(
        `[...document.querySelectorAll('main > *')].map((one) => one.getBoundingClientRect().top)`,
      );
    const before = await places();
    const button = page.locator('[data-copy]');
    expect(await button.isVisible()).to.equal(false);
    come();
    await button.waitFor();
    expect(await places()).to.deep.equal(before);
    await at.close(watched, /failed request/);
  });

  it('asks again where an answer does not come, also in a browser of some years ago', async () => {
    const link = await at.make();
    let asked = 0;
    const watched = await at.visit(link, {}, async (page) => {
      await page.addInitScript('delete AbortSignal.timeout;');
      await page.route(/\/live\?$/, (route) => route.fulfill({ status: 503, body: 'full' }));
      await page.route(/once=1$/, async (route) => {
        asked += 1;
        if (asked > 1) await route.continue();
      });
    });
    await eventually('a request', () => asked === 1);
    await at.pay(link);
    await at.shows(watched.page, 'processing', 16_000);
    await at.close(watched, /503|EventSource|failed request/);
  });

  it('tells two tabs alike', async () => {
    const link = await at.make();
    const [one, other] = [await at.visit(link), await at.visit(link)];
    await Promise.all([at.followed(one), at.followed(other)]);
    await at.pay(link);
    await Promise.all([at.shows(one.page, 'processing'), at.shows(other.page, 'processing')]);
    await Promise.all([at.close(one), at.close(other)]);
  });

  it('ends its requests when nothing can change any more', async () => {
    const link = await at.make();
    const watched = await at.visit(link);
    const { page } = watched;
    await at.followed(watched);
    await page.locator('#way a').focus();
    const deposit = await at.pay(link, '40');
    await at.shop.move(deposit, 'confirming');
    await at.shop.move(deposit, 'completed');
    await at.shows(page, 'completed');
    // What had the focus is gone: who uses the keyboard goes on in the page, and not at its top.
    expect(await page.evaluate('document.activeElement.nodeName')).to.equal('MAIN');
    const before = watched.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(watched.requests.length).to.equal(before);
    await at.close(watched);
  });
});
