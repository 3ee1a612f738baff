import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../../../dev/support/browser.ts';
import { GUIDES } from '../../../src/web/docs/guides.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { barriers } from '../../support/http/axe.ts';
import { openPage, overflowOf, readText } from '../../support/http/browser.ts';

const PAGES = ['', ...GUIDES.map((name) => `/${name}`), '/schemas', '/search', '/search?q=webhook+secret'];
/** The reference, and a page with everything that a guide may have. */
const SAMPLES = ['', '/payment-links'];
const SCHEMES = ['light', 'dark'] as const;

describe('the guides', function () {
  this.timeout(120_000);
  let api: TestApi;
  let browser: Browser;
  before(async () => {
    [api, browser] = await Promise.all([startTestApi(), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await api?.stop();
  });

  const text = async (path: string) => (await call(`${api.origin}${path}`)).text;
  const found = async (path: string) => {
    const answer = await call(`${api.origin}${path}`);
    return answer.status === 200 ? answer.text : undefined;
  };

  it('are where the URL is: the root leads to them, also for a HEAD and below a path', async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${api.origin}/`, { method, redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).to.deep.equal([302, '/docs']);
    }
    const below = await startTestApi({ publicUrl: 'https://pay.example/gateway' });
    const root = await fetch(`${below.origin}/`, { redirect: 'manual' });
    const start = await call(`${below.origin}/docs/start`);
    await below.stop();
    expect(root.headers.get('location')).to.equal('/gateway/docs');
    expect(start.text)
      .to.include('href="/gateway/docs/webhooks"')
      .and.include('API=https://pay.example/gateway/api/v1')
      .and.not.include('127.0.0.1');
  });

  it('answer an address that is none with a page that leads on', async () => {
    const { status, headers, text: body } = await call(`${api.origin}/docs/webhook`);
    expect([status, headers.get('cache-control')]).to.deep.equal([404, 'no-store']);
    expect(body)
      .to.include('There is no such page')
      .and.include('href="/docs/start"')
      .and.include('name="q"');
    expect(await text('/docs')).to.include('<a href="/docs/start">From a key to the first verified webhook');
  });

  it('are all the files of docs/guides', () => {
    const files = readdirSync(join(import.meta.dirname, '../../../docs/guides'));
    expect(files.sort()).to.deep.equal(GUIDES.map((name) => `${name}.md`).sort());
  });

  it('are kept by browsers for a while, and at most 250 KB each', async () => {
    for (const page of PAGES) {
      const { headers, text: body, status } = await call(`${api.origin}/docs${page}`);
      expect(status, page).to.equal(200);
      expect(headers.get('cache-control')).to.equal('max-age=300');
      expect(headers.get('etag'), page).to.match(/^"/);
      expect(Buffer.byteLength(body), page).to.be.at.most(250_000);
    }
  });

  it('have no link that leads nowhere', async () => {
    const bodies = new Map<string, string>();
    for (const page of PAGES) bodies.set(`/docs${page}`, await text(`/docs${page}`));
    const lost: string[] = [];
    for (const [path, body] of bodies)
      for (const [, href = ''] of body.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        const url = new URL(href.replaceAll('&amp;', '&'), api.origin + path);
        if (url.origin !== api.origin) continue;
        const there = bodies.get(url.pathname) ?? (await found(url.pathname + url.search));
        if (there === undefined) lost.push(`${path}: ${href}`);
        else if (url.hash !== '' && !there.includes(`id="${url.hash.slice(1)}"`))
          lost.push(`${path}: ${href}`);
      }
    expect(lost).to.deep.equal([]);
  });

  for (const width of [390, 1_280])
    it(`keep nobody out, in light and dark, at ${width} pixels`, async () => {
      const { page, context, complaints } = await openPage(browser, api.origin, {
        viewport: { width, height: 844 },
      });
      for (const path of PAGES) {
        await page.goto(`${api.origin}/docs${path}`);
        // The guides are of the same parts: their colours are looked at once in each width.
        const schemes = SAMPLES.includes(path)
          ? SCHEMES
          : [width === 390 ? ('light' as const) : ('dark' as const)];
        for (const colorScheme of schemes) {
          await page.emulateMedia({ colorScheme });
          const name = `docs${path.replaceAll(/[^a-z]+/g, '-')}-${width}-${colorScheme}`;
          expect(await barriers(page, name), `${path} ${width} ${colorScheme}`).to.deep.equal([]);
        }
      }
      await context.close();
      expect(complaints).to.deep.equal([]);
    });

  it('fit a window of 320 pixels, and no id stands twice in a page', async () => {
    const { page, context } = await openPage(browser, api.origin, { viewport: { width: 320, height: 700 } });
    for (const path of PAGES) {
      await page.goto(`${api.origin}/docs${path}`);
      expect(await overflowOf(page), path).to.equal(0);
      const ids = await page.evaluate<string[]>(`[...document.querySelectorAll('[id]')].map(({ id }) => id)`);
      expect(new Set(ids).size, path).to.equal(ids.length);
    }
    await context.close();
  });

  for (const javaScriptEnabled of [true, false])
    it(`fold the menu on a phone and open it, ${javaScriptEnabled ? 'with' : 'without'} script`, async () => {
      const { page, context } = await openPage(browser, api.origin, {
        javaScriptEnabled,
        viewport: { width: 390, height: 844 },
      });
      await page.goto(`${api.origin}/docs`);
      const nav = page.getByRole('navigation', { name: 'Documentation' });
      expect(await nav.isVisible()).to.equal(false);
      expect((await page.locator('h1').boundingBox())?.y).to.be.below(300);
      await page.getByText('Menu', { exact: true }).click();
      await nav.getByRole('link', { name: 'Going live' }).click();
      expect(await readText(page.locator('h1'))).to.equal('Going live');
      await context.close();
    });

  it('show an example in the language that was chosen, without script too', async () => {
    const { page, context } = await openPage(browser, api.origin, { javaScriptEnabled: false });
    await page.goto(`${api.origin}/docs/start`);
    const example = page.locator('.tabs').first();
    await example.getByText('Python').click();
    expect(await shownIn(page)).to.deep.equal(['python']);
    await context.close();
  });

  it('remember the language for every example, and stay where they are', async () => {
    const { page, context, complaints } = await openPage(browser, api.origin);
    await page.goto(`${api.origin}/docs`);
    const example = page.locator('.tabs').nth(8);
    await example.scrollIntoViewIfNeeded();
    const before = (await example.boundingBox())?.y ?? 0;
    await example.getByText('PHP').click();
    expect(Math.abs(((await example.boundingBox())?.y ?? 0) - before)).to.be.below(2);
    expect(new Set(await shownIn(page))).to.deep.equal(new Set(['php']));
    await page.goto(`${api.origin}/docs/lists`);
    expect(await shownIn(page)).to.deep.equal(['php']);
    await context.close();
    expect(complaints).to.deep.equal([]);
  });

  it('copy an example, in the language that is seen', async () => {
    const { page, context } = await openPage(browser, api.origin, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(`${api.origin}/docs/authentication`);
    const example = page.locator('.tabs').first();
    await example.getByText('Node').click();
    await example.getByRole('button').click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).to.match(
      /^const answer = await fetch/,
    );
    await context.close();
  });

  it('mark in the menu where the reader is', async () => {
    const { page, context } = await openPage(browser, api.origin, {
      viewport: { width: 1_280, height: 900 },
    });
    await page.goto(`${api.origin}/docs/webhooks`);
    const marked = () => page.locator('nav [aria-current]').allInnerTexts();
    expect(await marked()).to.include('Webhooks');
    await page.locator('#credit-once').scrollIntoViewIfNeeded();
    await page.evaluate(`document.getElementById('credit-once').scrollIntoView()`);
    await page.locator('nav [aria-current=location]', { hasText: 'Credit once' }).waitFor();
    await context.close();
  });

  it('print their words without menu and search', async () => {
    const { page, context } = await openPage(browser, api.origin);
    await page.goto(`${api.origin}/docs/deposits`);
    await page.emulateMedia({ media: 'print' });
    for (const place of ['header.top', 'nav', '.menu', '.copier >> nth=0'])
      expect(await page.locator(place).isVisible(), place).to.equal(false);
    expect(await page.locator('svg.states').isVisible()).to.equal(true);
    await context.close();
  });
});

/** The languages of the examples that are seen. */
async function shownIn(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(
    `[...document.querySelectorAll('.tabs pre')].filter((pre) => pre.checkVisibility()).map((pre) => pre.dataset.lang)`,
  );
}
