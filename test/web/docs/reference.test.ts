import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { LANGUAGES, type Language, runSnippet } from '../../../dev/newcomer/snippets.ts';
import { startBrowser } from '../../../dev/support/browser.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { signTestEvent } from '../../../packages/sdk/src/index.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { faintTexts, openPage, overflowOf, readText } from '../../support/http/browser.ts';
import { newUser, signIn } from '../../support/sign-in.ts';

type Document = {
  paths: Record<string, Record<string, { operationId?: string }>>;
  webhooks: Record<string, unknown>;
};

const METHODS = ['get', 'post', 'put', 'delete'];

describe('the reference page', function () {
  this.timeout(60_000);
  let api: TestApi;
  let browser: Browser;
  let document: Document;
  before(async () => {
    [api, browser] = await Promise.all([startTestApi(), startBrowser()]);
    document = (await call(`${api.origin}/openapi.json`)).body as Document;
  });
  after(async () => {
    await browser?.close();
    await api?.stop();
  });

  const routes = () =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => METHODS.includes(method))
        .map((method) => `${method} ${path}`),
    );

  for (const javaScriptEnabled of [true, false]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`shows every route and every event, ${colorScheme}, ${javaScriptEnabled ? 'with' : 'without'} script, asking for nothing else`, async () => {
        const watched = await openPage(browser, api.origin, { javaScriptEnabled, colorScheme });
        const { page, context, complaints, requests } = watched;
        await page.goto(`${api.origin}/docs`);
        const attributes = async (name: string) => {
          const places = await page.locator(`[${name}]`).all();
          return await Promise.all(places.map((place) => place.getAttribute(name)));
        };
        expect(await attributes('data-route')).to.have.members(routes());
        expect(await attributes('data-event')).to.have.members(Object.keys(document.webhooks));
        expect(await readText(page.locator('nav')))
          .to.include('POST /request-payment')
          .and.include('deposit.completed');
        for (const language of LANGUAGES)
          expect(await page.locator(`[data-route] pre[data-lang=${language}]`).count()).to.equal(
            routes().length,
          );
        if (javaScriptEnabled) expect(await faintTexts(page, 4.5)).to.deep.equal([]);
        expect(requests.filter((path) => !path.startsWith('/assets/'))).to.deep.equal(['/docs']);
        await context.close();
        expect(complaints).to.deep.equal([]);
      });
    }
  }

  it('fits a narrow and a wide window, and each of its links leads to a place on it', async () => {
    for (const width of [320, 1_280]) {
      const { page, context } = await openPage(browser, api.origin, { viewport: { width, height: 800 } });
      await page.goto(`${api.origin}/docs`);
      expect(await overflowOf(page), `${width}`).to.equal(0);
      const lost = await page.evaluate<string[]>(
        `[...document.querySelectorAll('a[href^="#"]')].map((a) => a.getAttribute('href').slice(1)).filter((id) => !document.getElementById(id))`,
      );
      expect(lost).to.deep.equal([]);
      const ids = await page.evaluate<string[]>(`[...document.querySelectorAll('[id]')].map(({ id }) => id)`);
      expect(new Set(ids).size).to.equal(ids.length);
      await context.close();
    }
  });

  it('says for a route what it takes, what it answers and what can go wrong', async () => {
    const { page, context } = await openPage(browser, api.origin);
    await page.goto(`${api.origin}/docs#createPaymentLink`);
    const card = page.locator('#createPaymentLink');
    await card.getByText('Errors:').click();
    const text = await readText(card);
    for (const part of [
      'amount_usd',
      'expires_in',
      'from 300 to 604800',
      'Idempotency-Key',
      'AMOUNT_TOO_SMALL',
      'IDEMPOTENCY_CONFLICT',
    ])
      expect(text).to.include(part);
    await card.locator('h4 a').last().click();
    expect(new URL(page.url()).pathname).to.equal('/docs/schemas');
    expect(await readText(page.locator('#schema-PaymentLink')))
      .to.include('remaining_amount_usd')
      .and.include('pending');
    await context.close();
  });

  it('may load and run nothing but our own scripts, by their hashes', async () => {
    const { headers, status, text } = await call(`${api.origin}/docs`);
    expect(status).to.equal(200);
    expect(headers.get('content-security-policy'))
      .to.match(
        /^default-src 'none'; style-src 'sha256-[^ ]+' 'sha256-[^ ]+'; script-src 'self'; connect-src 'self';/,
      )
      .and.not.include('unsafe');
    const scripts = text.match(/<script[^>]*>/g) ?? [];
    expect(scripts).to.have.length(2);
    for (const script of scripts) expect(script).to.match(/ integrity="sha384-[^"]+" defer>$/);
    expect((await call(`${api.origin}/docs`, { method: 'POST' })).status).to.equal(405);
  });

  it('is at most 250 KB, kept by browsers, and not sent again to who has it', async () => {
    const { headers, text } = await call(`${api.origin}/docs`);
    expect(Buffer.byteLength(text)).to.be.at.most(250_000);
    const tag = headers.get('etag') ?? '';
    expect(headers.get('cache-control')).to.equal('max-age=300');
    const again = await call(`${api.origin}/docs`, {
      headers: { 'If-None-Match': tag, 'Cache-Control': 'max-age=0' },
    });
    expect([again.status, again.text]).to.deep.equal([304, '']);
  });

  describe('has calls that run as they stand, for every route', () => {
    /** Says the status on a line of its own, whatever the call itself prints. */
    const TOLD: Readonly<Record<Language, (text: string) => string>> = {
      sh: (text) => `${text} \\\n  -o /dev/null -w '%{http_code}'`,
      js: (text) => text,
      python: (text) => text,
      php: (text) => `${text}\nfwrite(STDERR, "\\n" . $http_response_header[0]);`,
    };
    const statusOf = ({ out, err }: { out: string; err: string }): number =>
      Number(/^(\d{3})\b/.exec(out)?.[1] ?? /HTTP(?:\/1\.1| Error) (\d{3})/.exec(err)?.[1]);
    let calls: { route: string; texts: Record<Language, string> }[];
    let folder: string;
    before(async () => {
      folder = await tempDir('calls');
      const { page, context } = await openPage(browser, api.origin);
      await page.goto(`${api.origin}/docs`);
      calls = await page.evaluate(`[...document.querySelectorAll('[data-route]')].map((card) => ({
        route: card.dataset.route,
        texts: Object.fromEntries([...card.querySelectorAll('pre[data-lang]')].map((pre) => [pre.dataset.lang, pre.textContent])),
      }))`);
      await context.close();
    });

    for (const language of LANGUAGES)
      it(language, async () => {
        const merchant = await api.newMerchant();
        const user = await newUser(api, merchant.id);
        const cookie = await signIn(api, user);
        const env = { KEY: merchant.keys.test, SESSION: cookie.slice(cookie.indexOf('=') + 1) };
        for (const { route, texts } of calls) {
          const outcome = await runSnippet(language, TOLD[language](texts[language]), { folder, env });
          expectRightStatus(route, statusOf(outcome), `${texts[language]}\n${outcome.out}${outcome.err}`);
        }
        expect(calls.map(({ route }) => route)).to.have.members(routes());
        const made = await call(`${api.url}/customers?external_id=user-42`, { key: merchant.keys.test });
        expect(made.body['data']).to.have.length(1);
      });
  });

  it('shows a verification that takes a genuine webhook and nothing else', async () => {
    const { page, context } = await openPage(browser, api.origin);
    await page.goto(`${api.origin}/docs`);
    const snippet = await readText(page.locator('[data-part="verify"] pre'));
    await context.close();
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(snippet)}`);
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const { rawBody, headers } = signTestEvent({ secret, event: 'deposit.completed', data: { id: 'x' } });
    expect(isGenuine(secret, headers, rawBody)).to.equal(true);
    expect(isGenuine(secret, headers, `${rawBody} `)).to.equal(false);
    expect(isGenuine(`${secret}x`, headers, rawBody)).to.equal(false);
    expect(isGenuine(secret, {}, rawBody)).to.equal(false);
    const old = signTestEvent({
      secret,
      event: 'deposit.completed',
      data: {},
      now: () => Date.now() - 301_000,
    });
    expect(isGenuine(secret, old.headers, old.rawBody)).to.equal(false);
  });

  it('names the public address in its calls where there is one', async () => {
    const named = await startTestApi({ publicUrl: 'https://pay.example' });
    const { text } = await call(`${named.origin}/docs`);
    await named.stop();
    expect(text)
      .to.include('https://pay.example/api/v1/customers')
      .and.include('https://pay.example/login')
      .and.not.include('localhost');
  });
});

// Whose examples name somebody who is not here: everything but the id is right.
const ABSENT = [
  '/customers/{id}',
  '/deposits/{id}',
  '/events/{id}',
  '/payments/{token}',
  '/payment-links/{id}',
  '/webhook-endpoints/{id}',
  '/webhook-deliveries/',
  '/test/',
];

function expectRightStatus(route: string, status: number, told: string): void {
  const [, path = ''] = route.split(' ');
  if (route === 'post /login') expect(status, told).to.equal(401);
  else if (ABSENT.some((start) => path.startsWith(start))) expect(status, told).to.equal(404);
  else expect(status, told).to.be.oneOf([200, 201]);
}
