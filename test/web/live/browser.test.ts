import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { readText } from '../../support/http/browser.ts';
import { type FollowedPages, NEWS_MS, startFollowedPages } from './followed-pages.ts';

const DAY_MS = 86_400_000;

describe('a page that follows its payment link', function () {
  this.timeout(90_000);
  let at: FollowedPages;
  before(async () => {
    at = await startFollowedPages();
  });
  after(() => at?.stop());

  it('turns without a reload, and moves, loses and interrupts nothing', async () => {
    const link = await at.make();
    const watched = await at.visit(link);
    const { page, requests } = watched;
    await at.followed(watched);
    await page.evaluate(`(() => {
      window.shifted = 0;
      new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shifted += one.value; })
        .observe({ type: 'layout-shift', buffered: false });
      window.kept = [...document.querySelectorAll('main *')];
      window.heard = [];
      new MutationObserver(() => window.heard.push(document.querySelector('[role=status]').textContent))
        .observe(document.querySelector('[role=status]'), { childList: true, characterData: true, subtree: true });
    })()`);
    await page.locator('summary').click();
    await page.locator('#note').fill('mine');
    await page.evaluate(`getSelection().setBaseAndExtent(
      document.querySelector('#text').firstChild, 2, document.querySelector('#text').firstChild, 10)`);
    await page.locator('#note').focus();
    await page.evaluate(`document.querySelector('#note').setSelectionRange(1, 3)`);
    await at.pay(link);
    await at.shows(page, 'processing');
    expect(await page.title()).to.equal('It is processing');
    expect(await page.locator('main li').allInnerTexts()).to.deep.equal(['1: 0']);
    expect(
      await page.evaluate(`[...document.querySelectorAll('main > [id]')].map((one) => one.id)`),
    ).to.deep.equal(['seen', 'text', 'way', 'last']);
    const state = await page.evaluate(`({
      gone: window.kept.filter((node) => !node.isConnected).length,
      open: document.querySelector('details').open,
      focus: document.activeElement.id,
      value: document.querySelector('#note').value,
      caret: [document.querySelector('#note').selectionStart, document.querySelector('#note').selectionEnd],
    })`);
    expect(state).to.deep.equal({ gone: 0, open: true, focus: 'note', value: 'mine', caret: [1, 3] });
    await eventually('the announcement', () => page.evaluate(`window.heard.includes('It is processing')`));
    await at.shop.scanned('bsc', at.shop.clock.now);
    await page.getByText('1: 1').waitFor({ timeout: NEWS_MS });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await page.evaluate(`window.heard.filter((text) => text !== '')`)).to.deep.equal([
      'It is processing',
    ]);
    expect(requests.filter((path) => path === `/pay/${link.token}`)).to.have.length(1);
    await at.close(watched);
  });

  it('keeps a selection in a text that stays, and shifts nothing that did not change', async () => {
    const link = await at.make();
    await at.pay(link);
    const watched = await at.visit(link);
    const { page } = watched;
    await at.followed(watched);
    await page.evaluate(`(() => {
      window.shifted = 0;
      new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shifted += one.value; })
        .observe({ type: 'layout-shift', buffered: false });
      const text = document.querySelector('#text').firstChild;
      getSelection().setBaseAndExtent(text, 2, text, 10);
    })()`);
    await at.shop.scanned('bsc', at.shop.clock.now);
    await page.getByText(/^1: [1-9]/).waitFor({ timeout: NEWS_MS });
    expect(await page.evaluate('String(getSelection())')).to.equal('text tha');
    expect(await page.evaluate('window.shifted')).to.equal(0);
    await at.close(watched);
  });

  for (const wrong of [-DAY_MS, DAY_MS])
    it(`counts down by the server's clock where the reader's is ${wrong < 0 ? 'behind' : 'ahead'} by a day`, async () => {
      const link = await at.make();
      at.shop.pass(3_600 - 125);
      const watched = await at.visit(link, {}, (page) =>
        page.addInitScript(`{ const real = Date.now; Date.now = () => real() + ${wrong}; }`),
      );
      const { page } = watched;
      await at.followed(watched);
      const read = async () => await readText(page.locator('[data-until]'));
      expect(await read()).to.match(/^2:0[45]$/);
      await eventually('a second', async () => (await read()) === '2:02');
      at.shop.pass(-3_600 + 125);
      await at.close(watched);
    });

  it('copies what is grouped as one text and says so, also where there is no clipboard', async () => {
    const link = await at.make();
    for (const clipboard of [true, false]) {
      const watched = await at.visit(
        link,
        { permissions: ['clipboard-read', 'clipboard-write'] },
        async (page) => {
          if (!clipboard)
            await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined });`);
        },
      );
      const { page } = watched;
      const button = page.locator('[data-copy]');
      const width = (await button.boundingBox())?.width;
      await button.click();
      await eventually('the new words', async () => (await readText(button)) === 'Copied', 1_000);
      expect((await button.boundingBox())?.width).to.be.at.least(width ?? 0);
      await eventually(
        'the words',
        async () => (await page.locator('[role="status"]').textContent()) === 'Copied',
      );
      if (clipboard) expect(await page.evaluate('navigator.clipboard.readText()')).to.equal('0x123456');
      else expect(await page.evaluate('String(getSelection())')).to.equal('0x123456');
      await eventually('the old words', async () => (await readText(button)) === 'Copy');
      await at.close(watched);
    }
  });

  it('shows times in the reader’s own zone in place of the server’s, and the same after news', async () => {
    const link = await at.make();
    const watched = await at.visit(link, { timezoneId: 'America/New_York', locale: 'en-US' });
    const { page } = watched;
    await at.followed(watched);
    const local = page.locator('[data-local]');
    expect(await readText(local)).to.equal('2026-11-20 05:00 -5');
    expect(await local.getAttribute('title')).to.equal('2026-11-20 10:00 UTC');
    await at.pay(link);
    await at.shows(page, 'processing');
    expect(await readText(local)).to.equal('2026-11-20 05:00 -5');
    await at.close(watched);
  });

  it('loads itself again without script, and does not with it', async () => {
    const link = await at.make();
    const plain = await at.visit(link, { javaScriptEnabled: false });
    await eventually('another load', () => at.opened(plain, /^\/pay\/[^/]+$/) >= 2, 9_000);
    expect(plain.requests.filter((path) => path.includes('live'))).to.deep.equal([]);
    await at.close(plain, /failed request/);
    const scripted = await at.visit(link);
    await at.followed(scripted);
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    expect(at.opened(scripted, /^\/pay\/[^/]+$/)).to.equal(1);
    await at.close(scripted);
  });
});
