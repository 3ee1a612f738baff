import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../dev/support/browser.ts';
import { nextOf } from '../../src/api/access/login.ts';
import { enableTotp } from '../../src/services/access/users.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';
import { openPage, type WatchedPage } from '../support/http/browser.ts';
import { newUser, signIn, type TestUser } from '../support/sign-in.ts';

describe('the login page', function () {
  this.timeout(60_000);
  let api: TestApi;
  let browser: Browser;
  let user: TestUser;
  before(async () => {
    api = await startTestApi();
    user = await newUser(api);
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await api?.stop();
  });

  const fill = async ({ page }: WatchedPage, values: { email: string; password: string; totp?: string }) => {
    await page.getByLabel('Email').fill(values.email);
    await page.getByLabel('Password').fill(values.password);
    if (values.totp !== undefined) await page.getByLabel('Code').fill(values.totp);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  it('signs in and out without script, and complains of nothing', async () => {
    const watched = await openPage(browser, api.origin, { javaScriptEnabled: false });
    const { page, context } = watched;
    await page.goto(`${api.origin}/login`);
    await fill(watched, user);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).to.equal(`${api.origin}/dashboard`);
    await page.goto(`${api.origin}/login`);
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    const [cookie, ...others] = await context.cookies();
    expect(others).to.deep.equal([]);
    expect(cookie).to.include({
      name: 'ch_session',
      path: '/',
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
      expires: -1,
    });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await context.cookies()).to.deep.equal([]);
    expect(
      (await call(`${api.url}/customers`, { headers: { Cookie: `ch_session=${cookie?.value}` } })).status,
    ).to.equal(401);
    expect(watched.complaints).to.deep.equal([]);
    await context.close();
  });

  it('says that something is wrong, keeps the email, forgets the password, and takes a code on the second try', async () => {
    const careful = await newUser(api);
    const { secret } = await enableTotp(api.deps, careful);
    const watched = await openPage(browser, api.origin);
    const { page, context } = watched;
    await page.goto(`${api.origin}/login`);
    await fill(watched, careful);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).to.equal(
      'The email, the password or the code is not right.',
    );
    expect(await page.getByLabel('Email').inputValue()).to.equal(careful.email);
    expect(await page.getByLabel('Password').inputValue()).to.equal('');
    await fill(watched, { ...careful, totp: new TOTP({ secret }).generate() });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(watched.complaints.filter((text) => !text.includes('401'))).to.deep.equal([]);
    await context.close();
  });

  it('goes on to the page that was asked for', async () => {
    const watched = await openPage(browser, api.origin);
    await watched.page.goto(`${api.origin}/login?next=${encodeURIComponent('/openapi.json?from=login')}`);
    await fill(watched, user);
    await watched.page.waitForURL(`${api.origin}/openapi.json?from=login`);
    await watched.context.close();
  });

  it('gives scripts of our own origin the API, and pages of another port nothing', async () => {
    const { server, url } = await strangersPage(api);
    const { page, context } = await openPage(browser, api.origin);
    const [name, value] = (await signIn(api, user)).split('=');
    await context.addCookies([
      {
        name: name ?? '',
        value: value ?? '',
        url: api.origin,
        secure: true,
        httpOnly: true,
        sameSite: 'Lax',
      },
    ]);
    await page.goto(`${api.origin}/openapi.json`);
    const post = `fetch('/api/v1/customers', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"external_id":"by-page"}' }).then((r) => r.status)`;
    expect(await page.evaluate(post)).to.equal(201);
    // The port is not part of a cookie's site, so that this browser sends the cookie along.
    await page.goto(url);
    await page.waitForFunction('document.title === "done"');
    await page.evaluate('document.forms[0].submit()');
    await page.waitForURL(`${api.origin}/logout`);
    expect(await page.textContent('body')).to.contain('CSRF');
    const customers = await call(`${api.url}/customers`, { key: api.keys.live });
    expect(customers.body['data'].map((row: { external_id: string }) => row.external_id)).to.deep.equal([
      'by-page',
    ]);
    expect(
      (await call(`${api.url}/customers`, { headers: { Cookie: `${name}=${value}` } })).status,
      'still signed in',
    ).to.equal(200);
    await context.close();
    server.close();
  });

  it('shows whatever was typed as text, is never cached or framed, and runs nothing', async () => {
    const body = new URLSearchParams({
      email: '"><script>alert(1)</script>',
      password: 'x',
      next: '/a"><img src=x onerror=alert(1)>',
    }).toString();
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html' };
    const answer = await call(`${api.origin}/login`, { method: 'POST', body, headers });
    expect(answer.status).to.equal(401);
    expect(answer.text).to.not.match(/<script|<img/);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy)
      .to.contain("default-src 'none'")
      .and.contain("frame-ancestors 'none'")
      .and.contain("form-action 'self'");
    expect(policy).to.not.contain('unsafe');
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(
      answer.headers.get('referrer-policy'),
      'no-referrer would make the origin of the form null',
    ).to.equal('same-origin');
  });

  it('leads nowhere but to a path of ours', async () => {
    const good = ['/', '/pay/x', '/a?b=c#d', '/a/../b', '/%2F%2Fevil.example'];
    expect(good.map((next) => nextOf(next).next)).to.deep.equal([
      '/',
      '/pay/x',
      '/a?b=c#d',
      '/b',
      '/%2F%2Fevil.example',
    ]);
    const bad = [
      '',
      'x',
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
      'https://evil.example',
    ];
    bad.push(
      'javascript:alert(1)',
      '/..//evil.example',
      '/.//evil.example',
      ' //evil.example',
      `/${'a'.repeat(2_048)}`,
    );
    for (const next of bad) expect(nextOf(next), JSON.stringify(next)).to.deep.equal({});
    for (const next of [undefined, null, 1, ['/a'], {}]) expect(nextOf(next)).to.deep.equal({});
    const form = (next: string) => ({
      method: 'POST',
      body: new URLSearchParams({ ...user, next }).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html' },
    });
    const locationOf = async (next: string) => {
      const answer = await fetch(`${api.origin}/login`, { ...form(next), redirect: 'manual' });
      return [answer.status, answer.headers.get('location')];
    };
    expect(await locationOf('/docs?a=b')).to.deep.equal([303, '/docs?a=b']);
    for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example'])
      expect(await locationOf(next)).to.deep.equal([303, '/dashboard']);
  });
});

/** A page on another port of this machine that tries what a forger would. */
async function strangersPage(api: TestApi): Promise<{ server: Server; url: string }> {
  const target = JSON.stringify(`${api.url}/customers`);
  const markup = `<!doctype html><form method="post" action="${api.origin}/logout"></form><script>
    const body = '{"external_id":"forged"}';
    Promise.allSettled([
      fetch(${target}, { method: 'POST', mode: 'no-cors', credentials: 'include', body }),
      fetch(${target}, { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body }),
    ]).then(() => { document.title = 'done'; });
  </script>`;
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end(markup),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}
