import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { GUIDES } from '../../../src/web/docs/guides.ts';
import { termsOf } from '../../../src/web/docs/search.ts';
import { call, startTestApi } from '../../support/gateway.ts';
import { openPage, overflowOf } from '../../support/http/browser.ts';
import { wrongWith } from '../../support/http/look.ts';
import { browserStage } from '../../support/http/stage.ts';

const PAGES = ['', ...GUIDES.map((name) => `/${name}`), '/schemas', '/search', '/search?q=webhook+secret'];
/** Of the other guides' parts there is something in these. */
const SAMPLES = ['', '/payment-links', '/deposits', '/search?q=webhook+secret'];
const LOOKS = [
  { colorScheme: 'light', viewport: { width: 320, height: 700 } },
  { colorScheme: 'dark', viewport: { width: 1_280, height: 844 } },
] as const;

describe('the guides', function () {
  this.timeout(120_000);
  const the = browserStage();
  const at = (path: string, more = {}) => call(`${the.api.origin}${path}`, more);

  it('are where the URL is: the root leads to them, also for a HEAD and below a path', async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${the.api.origin}/`, { method, redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).to.deep.equal([302, '/docs']);
    }
    const below = await startTestApi({ publicUrl: 'https://pay.example/gateway' });
    const root = await fetch(`${below.origin}/`, { redirect: 'manual' });
    const start = await call(`${below.origin}/docs/start`);
    const reference = await call(`${below.origin}/docs`);
    await below.stop();
    expect(root.headers.get('location')).to.equal('/gateway/docs');
    expect(start.text)
      .to.include('href="/gateway/docs/webhooks"')
      .and.include('API=https://pay.example/gateway/api/v1')
      .and.not.include('127.0.0.1');
    expect(reference.text)
      .to.include('https://pay.example/gateway/api/v1/customers')
      .and.include('https://pay.example/gateway/login')
      .and.not.include('localhost');
  });

  it('are all the files of docs/guides', () => {
    const files = readdirSync(join(import.meta.dirname, '../../../docs/guides'));
    expect(files.sort()).to.deep.equal(GUIDES.map((name) => `${name}.md`).sort());
  });

  it('are kept for a while, at most 250 KB each, run only our own scripts, and lead nowhere that is not there', async () => {
    const bodies = new Map<string, string>();
    for (const page of PAGES) {
      const { headers, text, status } = await at(`/docs${page}`);
      expect([status, headers.get('cache-control')], page).to.deep.equal([200, 'max-age=300']);
      expect(headers.get('content-security-policy'), page)
        .to.match(/^default-src 'none'; style-src( 'sha256-[^ ]+')+; script-src 'self'; connect-src 'self';/)
        .and.not.include('unsafe');
      for (const script of text.match(/<script[^>]*>/g) ?? [])
        expect(script).to.match(/ integrity="sha384-[^"]+" defer>$/);
      expect(Buffer.byteLength(text), page).to.be.at.most(250_000);
      const known = { 'If-None-Match': headers.get('etag') ?? '', 'Cache-Control': 'max-age=0' };
      const again = await at(`/docs${page}`, { headers: known });
      expect([again.status, again.text], page).to.deep.equal([304, '']);
      bodies.set(`/docs${page}`, text);
    }
    const lost: string[] = [];
    for (const [path, body] of [...bodies])
      for (const [, href = ''] of body.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        const url = new URL(href.replaceAll('&amp;', '&'), the.api.origin + path);
        if (url.origin !== the.api.origin) continue;
        const known = bodies.get(url.pathname) ?? (await found(url.pathname + url.search));
        bodies.set(url.pathname, known);
        const isThere = url.hash === '' || known.includes(`id="${url.hash.slice(1)}"`);
        if (known === '' || !isThere) lost.push(`${path}: ${href}`);
      }
    expect(lost).to.deep.equal([]);
  });
  const found = async (path: string) => {
    const { status, text } = await at(path);
    return status === 200 ? text : '';
  };

  for (const [turn, look] of LOOKS.entries())
    it(`keep nobody out, ${look.colorScheme}, ${look.viewport.width} pixels wide`, async () => {
      const { page, context, complaints } = await openPage(the.browser, the.api.origin, look);
      const wrong: string[] = [];
      for (const path of PAGES.filter((_, index) => index % LOOKS.length === turn)) {
        await page.goto(`${the.api.origin}/docs${path}`);
        expect(await overflowOf(page), path).to.equal(0);
        if (!SAMPLES.includes(path)) continue;
        const name = `docs${path.replaceAll(/[^a-z]+/g, '-')}-${look.colorScheme}`;
        wrong.push(...(await wrongWith(page, name, { closed: true })));
      }
      expect(wrong).to.deep.equal([]);
      await context.close();
      expect(complaints).to.deep.equal([]);
    });

  describe('are searched', () => {
    const search = async (query: string) => (await at(`/docs/search?q=${encodeURIComponent(query)}`)).text;

    it('by words of guides, calls, events and schemas, also by a part of one; any query is a text', async () => {
      for (const [query, shown] of [
        ['idempotency', /<ol id="results">\s*<li><a href="\/docs\/idempotency"/],
        ['rotat secret', /<ol id="results">\s*<li><a href="\/docs\/webhooks#changing-the-secret"/],
        ['POST /request-payment', /<ol id="results">\s*<li><a href="\/docs#/],
        ['deposit.settled', /deposit\.settled<\/strong>/],
        ['remaining_amount_usd', /\/docs\/schemas#schema-PaymentLink"/],
        ['zebra', /Nothing has all of these words\.[\s\S]*<a href="search">/],
        ['', />Changing the secret<\/a>[\s\S]*>POST \/customers<\/a>[\s\S]*>PaymentLink<\/a>/],
      ] as const)
        expect(await search(query), query).to.match(shown);
      for (const query of ['"><script>x</script>', '[(*', '\\', '$&', 'a'.repeat(10_000), '‮x', '%00'])
        expect(await search(query), query.slice(0, 20))
          .to.include('<h1')
          .and.not.include('<script>x');
      expect((await at('/docs/search?q=a&q=b')).status).to.equal(200);
      expect(termsOf('E e '.repeat(50))).to.deep.equal(['e']);
      expect(termsOf('a b c d e f g h i j k l')).to.deep.equal([...'abcdefghij']);
    });
  });
});
