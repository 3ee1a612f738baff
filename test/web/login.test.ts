import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { nextOf } from '../../src/api/access/login.ts';
import { enableTotp, resetPassword } from '../../src/services/access/users.ts';
import { call } from '../support/gateway.ts';
import { openPage, type WatchedPage } from '../support/http/browser.ts';
import { browserStage } from '../support/http/stage.ts';
import { newUser, type TestUser } from '../support/sign-in.ts';

const CHOSEN = 'a chosen horse battery';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html' };

describe('the login page', function () {
  this.timeout(60_000);
  const the = browserStage();
  let user: TestUser;
  before(async () => {
    user = await newUser(the.api);
  });

  const open = (options = {}) => openPage(the.browser, the.api.origin, options);
  const fill = async ({ page }: WatchedPage, values: { email: string; password: string; totp?: string }) => {
    await page.getByLabel('Email').fill(values.email);
    await page.getByLabel('Password').fill(values.password);
    if (values.totp !== undefined) await page.getByLabel('Code').fill(values.totp);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  it('signs in and out without script, and complains of nothing', async () => {
    const watched = await open({ javaScriptEnabled: false });
    const { page, context } = watched;
    await page.goto(`${the.api.origin}/login`);
    await fill(watched, user);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).to.equal(`${the.api.origin}/dashboard`);
    await page.goto(`${the.api.origin}/login`);
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    const [cookie, ...others] = await context.cookies();
    expect(others).to.deep.equal([]);
    const kept = {
      name: 'ch_session',
      path: '/',
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
      expires: -1,
    };
    expect(cookie).to.include(kept);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await context.cookies()).to.deep.equal([]);
    const headers = { Cookie: `ch_session=${cookie?.value}` };
    expect((await call(`${the.api.url}/customers`, { headers })).status).to.equal(401);
    expect(watched.complaints).to.deep.equal([]);
    await context.close();
  });

  it('says that something is wrong, keeps the email, forgets the password, takes a code, and goes on where it was to', async () => {
    const careful = await newUser(the.api);
    const { secret } = await enableTotp(the.api.deps, careful);
    const watched = await open();
    const { page, context } = watched;
    await page.goto(`${the.api.origin}/login?next=${encodeURIComponent('/docs/errors?from=login')}`);
    await fill(watched, careful);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).to.equal(
      'The email, the password or the code is not right.',
    );
    expect(await page.getByLabel('Email').inputValue()).to.equal(careful.email);
    expect(await page.getByLabel('Password').inputValue()).to.equal('');
    await fill(watched, { ...careful, totp: new TOTP({ secret }).generate() });
    await page.waitForURL(`${the.api.origin}/docs/errors?from=login`);
    expect(watched.complaints.filter((text) => !text.includes('401'))).to.deep.equal([]);
    await context.close();
  });

  it('shows whatever was typed as text, is never cached or framed, and runs nothing', async () => {
    const typed = {
      email: '"><script>alert(1)</script>',
      password: 'x',
      next: '/a"><img src=x onerror=alert(1)>',
    };
    const body = new URLSearchParams(typed).toString();
    const answer = await call(`${the.api.origin}/login`, { method: 'POST', body, headers: FORM });
    expect(answer.status).to.equal(401);
    expect(answer.text).to.not.match(/<script|<img/);
    expect(answer.headers.get('content-security-policy'))
      .to.contain("default-src 'none'")
      .and.contain("frame-ancestors 'none'")
      .and.contain("form-action 'self'")
      .and.not.contain('unsafe');
    // No referrer at all would make the origin of the form null.
    const told = ['cache-control', 'referrer-policy'].map((name) => answer.headers.get(name));
    expect(told).to.deep.equal(['no-store', 'same-origin']);
  });

  it('leads nowhere but to a path of ours', async () => {
    for (const [next, path] of [
      ['/a?b=c#d', '/a?b=c#d'],
      ['/a/../b', '/b'],
      ['/%2F%2Fevil.example', '/%2F%2Fevil.example'],
    ] as const)
      expect(nextOf(next).next).to.equal(path);
    const away = [
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
    ];
    const bad = [...away, '', 'x', 'https://evil.example', 'javascript:alert(1)', '/..//evil.example'];
    for (const next of [
      ...bad,
      '/.//evil.example',
      ' //evil.example',
      `/${'a'.repeat(2_048)}`,
      null,
      ['/a'],
      {},
    ])
      expect(nextOf(next), JSON.stringify(next)).to.deep.equal({});
    for (const [next, location] of [
      ['/docs?a=b', '/docs?a=b'],
      ['//evil.example', '/dashboard'],
    ] as const) {
      const body = new URLSearchParams({ ...user, next }).toString();
      const sent = { method: 'POST', body, headers: FORM, redirect: 'manual' } as const;
      const answer = await fetch(`${the.api.origin}/login`, sent);
      expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, location]);
    }
  });

  describe('that sets a password', () => {
    const linkFor = async ({ email }: TestUser): Promise<string> =>
      `${the.api.origin}/set-password#${(await resetPassword(the.api.deps, { email })).link?.token}`;
    const choose = async ({ page }: WatchedPage, password = CHOSEN) => {
      await page.getByLabel('New password').fill(password);
      await page.getByLabel('The same again').fill(password);
      await page.getByRole('button', { name: 'Set password' }).click();
    };
    const isSet = ({ page }: WatchedPage) =>
      page.getByRole('heading', { name: 'Your password is set' }).waitFor();

    it('takes the code out of the address before it is sent anywhere, says a slip, and opens once', async () => {
      const person = await newUser(the.api);
      const link = await linkFor(person);
      const watched = await open();
      const { page, context } = watched;
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.url(), JSON.stringify(request.headers())));
      await page.goto(link);
      await page.getByLabel('New password').waitFor();
      expect(page.url()).to.equal(`${the.api.origin}/set-password`);
      expect(await page.getByLabel('Your link').isVisible()).to.equal(false);
      await choose(watched, 'Password2026!!');
      expect(await page.getByRole('alert').textContent()).to.contain('too easy to guess');
      await choose(watched);
      await isSet(watched);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await fill(watched, { email: person.email, password: CHOSEN });
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(sent.join()).to.not.contain(link.split('#')[1]);
      expect(watched.complaints.filter((text) => !text.includes('400'))).to.deep.equal([]);
      await page.goto(link);
      await choose(watched);
      expect(await page.getByRole('alert').textContent()).to.contain('This link opens nothing');
      expect(await page.getByLabel('Your link').isVisible(), 'another one can be pasted').to.equal(true);
      const next = await linkFor(person);
      await page.evaluate(`location.hash = ${JSON.stringify(next.split('#')[1])}`);
      await choose(watched, `${CHOSEN} 2`);
      await isSet(watched);
      await context.close();
    });

    it('shows itself in nobody’s frame, and takes no form of anybody else', async () => {
      const person = await newUser(the.api);
      const link = await linkFor(person);
      const [, code = ''] = link.split('#');
      const { server, url } = await strangersPage(`<iframe src="${link}"></iframe>
        <form method="post" action="${the.api.origin}/set-password">
        <input name="code" value="${code}"><input name="password" value="the thief's own battery"></form>`);
      const { page, context } = await open();
      await page.goto(url);
      const frame = page.frames().find((one) => one !== page.mainFrame());
      expect(await frame?.locator('input').count(), 'fields in the frame').to.equal(0);
      await page.evaluate('document.forms[0].submit()');
      await page.waitForURL(`${the.api.origin}/set-password`);
      expect(await page.textContent('body')).to.contain('did not come from a page of this service');
      const fresh = await open();
      await fresh.page.goto(link);
      await choose(fresh);
      await isSet(fresh);
      await fresh.context.close();
      await context.close();
      server.close();
    });
  });
});

/** A page on another port of this machine that tries what a forger would. */
async function strangersPage(markup: string): Promise<{ server: Server; url: string }> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end(`<!doctype html>${markup}`),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}
