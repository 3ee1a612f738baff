import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually } from '../../../dev/support/eventually.ts';
import { readText } from '../../support/http/browser.ts';
import { type FollowedPages, startFollowedPages } from './followed-pages.ts';

const DAY_MS = 86_400_000;
/** Of the reader's clock, which is of no account. */
const NOW = new Date('2026-11-20T09:00:00Z');

describe('a page that follows its payment link', function () {
  this.timeout(90_000);
  let at: FollowedPages;
  before(async () => {
    at = await startFollowedPages();
  });
  after(() => at?.stop());

  it('turns without a reload, and moves, loses and interrupts nothing', async () => {
    const link = await at.make();
    const watched = await at.visit(link, { timezoneId: 'America/New_York', locale: 'en-US' });
    const { page, requests } = watched;
    await at.followed(watched);
    const local = page.locator('[data-local]');
    expect(await readText(local)).to.equal('2026-11-20 05:00 -5');
    expect(await local.getAttribute('title')).to.equal('2026-11-20 10:00 UTC');
    await page.evaluate(`(() => {
      window.kept = [...document.querySelectorAll('main *')];
      window.heard = [];
      new MutationObserver(() => window.heard.push(document.querySelector('[role=status]').textContent))
        .observe(document.querySelector('[role=status]'), { childList: true, characterData: true, subtree: true });
    })()`);
    await page.locator('summary').click();
    await page.locator('#note').fill('mine');
    await page.locator('#note').focus();
    await page.evaluate(`document.querySelector('#note').setSelectionRange(1, 3)`);
    await at.pay(link);
    await at.shows(page, 'processing');
    expect(await page.title()).to.equal('It is processing');
    expect(await page.locator('main li').allInnerTexts()).to.deep.equal(['1: 0']);
    const ids = await page.evaluate(`[...document.querySelectorAll('main > [id]')].map((one) => one.id)`);
    expect(ids).to.deep.equal(['seen', 'text', 'way', 'last']);
    const state = await page.evaluate(`({
      gone: window.kept.filter((node) => !node.isConnected).length,
      open: document.querySelector('details').open,
      focus: document.activeElement.id,
      value: document.querySelector('#note').value,
      caret: [document.querySelector('#note').selectionStart, document.querySelector('#note').selectionEnd],
    })`);
    expect(state).to.deep.equal({ gone: 0, open: true, focus: 'note', value: 'mine', caret: [1, 3] });
    await eventually('the announcement', () => page.evaluate(`window.heard.includes('It is processing')`));
    await page.evaluate(`(() => {
      window.shifted = 0;
      new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shifted += one.value; })
        .observe({ type: 'layout-shift', buffered: false });
      const text = document.querySelector('#text').firstChild;
      getSelection().setBaseAndExtent(text, 2, text, 10);
    })()`);
    await at.shop.scanned('bsc', at.shop.clock.now);
    await page.getByText(/^1: [1-9]/).waitFor();
    expect(await page.evaluate('[String(getSelection()), window.shifted]')).to.deep.equal(['text tha', 0]);
    expect(await page.evaluate(`window.heard.filter((text) => text !== '')`), 'said once').to.deep.equal([
      'It is processing',
    ]);
    expect(await readText(local)).to.equal('2026-11-20 05:00 -5');
    expect(requests.filter((path) => path === `/pay/${link.token}`)).to.have.length(1);
    await at.close(watched);
  });

  for (const wrong of [-DAY_MS, DAY_MS])
    it(`counts down by the server's clock where the reader's is ${wrong < 0 ? 'behind' : 'ahead'} by a day, and loads nothing again`, async () => {
      const link = await at.make();
      at.shop.pass(3_600 - 125);
      const watched = await at.visit(link, { clock: new Date(NOW.getTime() + wrong) });
      const { page } = watched;
      await at.followed(watched);
      const read = async () => await readText(page.locator('[data-until]'));
      expect(await read()).to.equal('2:05');
      await page.clock.runFor(10_000);
      expect(await read()).to.equal('1:55');
      expect(at.opened(watched, /^\/pay\/[^/]+$/)).to.equal(1);
      at.shop.pass(-3_600 + 125);
      await at.close(watched);
    });

  describe('whose stream breaks', () => {
    const poll = async (page: Page, what: string, is: () => unknown) =>
      await eventually(what, async () => {
        await page.clock.runFor(1_000);
        return Boolean(await is());
      });

    it('goes on after the connection was cut, and after the server was gone for a while', async () => {
      const link = await at.make();
      const watched = await at.visit(link);
      await at.followed(watched);
      await at.gate.close();
      await at.pay(link);
      await eventually('the cut', () => watched.complaints.length > 0);
      await at.gate.open();
      await at.shows(watched.page, 'processing');
      expect(at.opened(watched, /^\/pay\/[^/]+$/)).to.equal(1);
      await at.close(watched, /ERR_|failed request|console/);
    });

    for (const [where, lost] of [
      [
        'does not come',
        (page: Page) => page.route(/assets\/live/, (route) => route.fulfill({ status: 404 })),
      ],
      ['does not run', (page: Page) => page.addInitScript('delete window.EventSource;')],
    ] as const)
      it(`loads itself again where its script ${where}`, async () => {
        const link = await at.make();
        const watched = await at.visit(link, { clock: NOW }, lost);
        await at.pay(link);
        await watched.page.clock.runFor(4_100);
        await at.shows(watched.page, 'processing');
        expect(at.opened(watched, /^\/pay\/[^/]+$/)).to.equal(2);
        await at.close(watched, /404|integrity|EventSource|failed request/);
      });

    it('shows what is so now also where it is what was so before the stream told of something else', async () => {
      const view = (text: string) =>
        JSON.stringify({ title: text, main: `<h1>${text}</h1>`, server_time: NOW.toISOString(), open: true });
      let streams = 0;
      const watched = await at.visit(await at.make(), { clock: NOW }, async (page) => {
        await page.route(/\/live\?$/, (route) => {
          streams += 1;
          const body = `retry: 10\n\nevent: view\ndata: ${view('changed')}\n\n`;
          const answer = { contentType: 'text/event-stream', body };
          return route.fulfill(streams === 2 ? answer : { status: 503 });
        });
        await page.route(/once=1$/, (route) => {
          const isKnown = route.request().headers()['if-none-match'] === '"as it was"';
          const headers = { ETag: '"as it was"' };
          const answer = { contentType: 'application/json', headers, body: view('as it was') };
          return route.fulfill(isKnown ? { status: 304 } : answer);
        });
      });
      const { page } = watched;
      await page.locator('h1', { hasText: 'as it was' }).waitFor();
      await poll(page, 'the stream', () => streams >= 3);
      await page.locator('h1', { hasText: 'as it was' }).waitFor();
      await at.close(watched, /503|EventSource|failed request|ERR_/);
    });
  });
});
