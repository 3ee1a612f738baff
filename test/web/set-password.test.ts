import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../dev/support/browser.ts';
import { resetPassword } from '../../src/services/access/users.ts';
import { startTestApi, type TestApi } from '../support/gateway.ts';
import { openPage, type WatchedPage } from '../support/http/browser.ts';
import { newUser, postLogin, type TestUser } from '../support/sign-in.ts';

const CHOSEN = 'a chosen horse battery';

describe('the page that sets a password', function () {
  this.timeout(60_000);
  let api: TestApi;
  let browser: Browser;
  before(async () => {
    api = await startTestApi();
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await api?.stop();
  });

  const linkFor = async ({ email }: TestUser): Promise<string> =>
    `${api.origin}/set-password#${(await resetPassword(api.deps, { email })).link?.token}`;
  const choose = async ({ page }: WatchedPage, password = CHOSEN) => {
    await page.getByLabel('New password').fill(password);
    await page.getByLabel('The same again').fill(password);
    await page.getByRole('button', { name: 'Set password' }).click();
  };

  it('takes the code out of the address before it is sent anywhere, says a slip, and sets the password', async () => {
    const user = await newUser(api);
    const link = await linkFor(user);
    const watched = await openPage(browser, api.origin);
    const { page, context } = watched;
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url(), JSON.stringify(request.headers())));
    await page.goto(link);
    await page.getByLabel('New password').waitFor();
    expect(page.url()).to.equal(`${api.origin}/set-password`);
    expect(await page.getByLabel('Your link').isVisible()).to.equal(false);
    await choose(watched, 'Password2026!!');
    expect(await page.getByRole('alert').textContent()).to.contain('too easy to guess');
    expect(await page.getByLabel('Your link').isVisible()).to.equal(false);
    await choose(watched);
    await page.getByRole('heading', { name: 'Your password is set' }).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Email').fill(user.email);
    await page.getByLabel('Password').fill(CHOSEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(sent.join()).to.not.contain(link.split('#')[1]);
    expect(watched.complaints.filter((text) => !text.includes('400'))).to.deep.equal([]);

    await page.goto(link);
    await choose(watched);
    expect(await page.getByRole('alert').textContent()).to.contain('This link opens nothing');
    expect(await page.getByLabel('Your link').isVisible(), 'another one can be pasted').to.equal(true);
    const next = await linkFor(user);
    await page.evaluate(`location.hash = ${JSON.stringify(next.split('#')[1])}`);
    await choose(watched, `${CHOSEN} 2`);
    await page.getByRole('heading', { name: 'Your password is set' }).waitFor();
    await context.close();
  });

  it('works without script for whoever pastes the link', async () => {
    const user = await newUser(api);
    const link = await linkFor(user);
    const watched = await openPage(browser, api.origin, { javaScriptEnabled: false });
    await watched.page.goto(link);
    await watched.page.getByLabel('Your link').fill(` ${link} `);
    await choose(watched);
    await watched.page.getByRole('heading', { name: 'Your password is set' }).waitFor();
    expect((await postLogin(api, user, { password: CHOSEN })).status).to.equal(200);
    expect(watched.complaints).to.deep.equal([]);
    await watched.context.close();
  });

  it('shows itself in nobody’s frame, and takes no form of anybody else', async () => {
    const user = await newUser(api);
    const link = await linkFor(user);
    const [, code = ''] = link.split('#');
    const markup = `<!doctype html><iframe src="${link}"></iframe><form method="post" action="${api.origin}/set-password">
      <input name="code" value="${code}"><input name="password" value="the thief's own battery"></form>`;
    const server = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(markup),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { page, context } = await openPage(browser, api.origin);
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const frame = page.frames().find((one) => one !== page.mainFrame());
    expect(await frame?.locator('input').count(), 'fields in the frame').to.equal(0);
    await page.evaluate('document.forms[0].submit()');
    await page.waitForURL(`${api.origin}/set-password`);
    expect(await page.textContent('body')).to.contain('did not come from a page of this service');
    const fresh = await openPage(browser, api.origin);
    await fresh.page.goto(link);
    await choose(fresh);
    await fresh.page.getByRole('heading', { name: 'Your password is set' }).waitFor();
    await fresh.context.close();
    await context.close();
    server.close();
  });
});
