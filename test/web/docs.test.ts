import { spawn } from 'node:child_process';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../dev/support/browser.ts';
import { signTestEvent } from '../../src/sdk/webhook.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';
import { faintTexts, openPage, overflowOf, readText } from '../support/http/browser.ts';
import { newUser, signIn } from '../support/sign-in.ts';

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
        expect(await page.locator('[data-part="curl"]').count()).to.equal(routes().length);
        if (javaScriptEnabled) expect(await faintTexts(page, 4.5)).to.deep.equal([]);
        expect(requests).to.deep.equal(['/docs']);
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
    await page.goto(`${api.origin}/docs#postRequestPayment`);
    const card = page.locator('#postRequestPayment');
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
    expect(await readText(page.locator('#schema-PaymentLink')))
      .to.include('remaining_amount_usd')
      .and.include('pending');
    await context.close();
  });

  it('may load and run nothing', async () => {
    const { headers, status } = await call(`${api.origin}/docs`);
    expect(status).to.equal(200);
    expect(headers.get('content-security-policy'))
      .to.match(/^default-src 'none'; style-src 'sha256-[^ ]+' 'sha256-[^ ]+';/)
      .and.not.include('unsafe')
      .and.not.include('script');
    expect((await call(`${api.origin}/docs`, { method: 'POST' })).status).to.equal(405);
  });

  it('has calls that run as they stand, for every route', async () => {
    const user = await newUser(api);
    const cookie = await signIn(api, user);
    const env = { KEY: api.keys.test, SESSION: cookie.slice(cookie.indexOf('=') + 1) };
    const { page, context } = await openPage(browser, api.origin);
    await page.goto(`${api.origin}/docs`);
    const statuses: Record<string, string> = {};
    for (const card of await page.locator('[data-route]').all()) {
      const route = (await card.getAttribute('data-route')) ?? '';
      const text = await readText(card.locator('[data-part="curl"]'));
      expect(text).to.match(/^curl -s /);
      statuses[route] = (await run(`${text} \\\n  -o /dev/null -w '%{http_code}'`, env)).trim();
    }
    await context.close();
    // Whose examples name somebody who is not here: everything but the id is right.
    const absent = [
      '/customers/{id}',
      '/deposits/{id}',
      '/events/{id}',
      '/payments/{token}',
      '/payment-links/{id}',
      '/webhook-endpoints/{id}',
    ];
    for (const [route, status] of Object.entries(statuses)) {
      const [, path = ''] = route.split(' ');
      if (route === 'post /login') expect(status).to.equal('401');
      else if (
        path === '/test/simulate-deposit' ||
        path.startsWith('/webhook-deliveries/') ||
        absent.some((start) => path.startsWith(start))
      )
        expect(status, route).to.equal('404');
      else expect(status, route).to.match(/^20[01]$/);
    }
    expect(Object.keys(statuses)).to.have.members(routes());
    const made = await call(`${api.url}/customers?external_id=user-42`, { key: api.keys.test });
    expect(made.body['data']).to.have.length(1);
  });

  it('shows a verification that takes a genuine webhook and nothing else', async () => {
    const { page, context } = await openPage(browser, api.origin);
    await page.goto(`${api.origin}/docs`);
    const snippet = await readText(page.locator('[data-part="verify"]'));
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

/** Runs a call as a person's shell would. */
function run(command: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
    });
    child.on('error', reject);
    child.on('close', () => resolve(out));
  });
}
