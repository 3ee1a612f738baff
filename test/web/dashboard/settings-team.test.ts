import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { openPage, readText } from '../../support/http/browser.ts';
import { openDashboard, submitLogin, unexpected } from '../../support/http/dashboard.ts';
import { formPerson } from '../../support/http/form-person.ts';
import { browserStage } from '../../support/http/stage.ts';
import { newUser } from '../../support/sign-in.ts';

const PATH = '/dashboard/settings/team';

describe('the team in the settings', function () {
  this.timeout(60_000);
  const the = browserStage();

  it('gets somebody by a link that is shown once and opens once, and loses them again', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, { merchantId, path: '/dashboard/settings' });
    const { page, context, user } = signedIn;
    await page.getByRole('link', { name: 'Team' }).click();
    await page.getByRole('link', { name: 'Invite somebody' }).click();
    await page.getByLabel('Email').fill('ben@example.com');
    await page.getByLabel('Your password').fill(user.password);
    await page.getByRole('button', { name: 'Make the link' }).click();
    const link = await readText(page.locator('#secret-0'));
    await page.getByRole('link', { name: 'I have copied it' }).click();
    expect(await readText(page.getByRole('row').filter({ hasText: 'ben@' }))).to.include('Invited');
    const ben = { email: 'ben@example.com', password: 'a wholly new battery' };
    const other = await openPage(the.browser, the.api.origin);
    const choose = async () => {
      await other.page.goto('about:blank');
      await other.page.goto(link.replace('localhost', '127.0.0.1'));
      await other.page.getByLabel('New password').fill(ben.password);
      await other.page.getByLabel('The same again').fill(ben.password);
      await other.page.getByRole('button', { name: 'Set password' }).click();
    };
    await choose();
    await other.page.getByRole('link', { name: 'Sign in' }).click();
    await submitLogin(other.page, ben);
    await other.page.goto(`${the.api.origin}/dashboard/test/customers`);
    expect(await readText(other.page.locator('header'))).to.include('ben@example.com');
    await choose();
    expect(await readText(other.page.getByRole('alert')), 'a second time').to.include('opens nothing');
    await page.goto(the.api.origin + PATH);
    await page.getByRole('link', { name: 'Remove ben@example.com' }).click();
    await page.getByRole('button', { name: 'Remove this person' }).click();
    await page.waitForURL((url) => url.pathname === PATH);
    expect(await readText(page.locator('main'))).to.not.include('ben@');
    await other.page.goto(`${the.api.origin}/dashboard/test/customers`);
    expect(new URL(other.page.url()).pathname).to.equal('/login');
    await page.goto(`${the.api.origin}/dashboard/settings/audit`);
    const audit = await readText(page.locator('main'));
    expect(audit).to.include('invited somebody').and.include('removed somebody from the team');
    expect(audit)
      .to.include('chose a password by a link')
      .and.include(`${user.email}`)
      .and.include('from 127.0.0.1');
    await context.close();
    await other.context.close();
    expect(unexpected(signedIn)).to.deep.equal([]);
  });

  it('removes nobody of another merchant, nobody twice and not oneself, and invites no email twice', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const user = await newUser(the.api, merchantId);
    const colleague = await newUser(the.api, merchantId);
    const stranger = await newUser(the.api, (await the.api.newMerchant()).id);
    const person = await formPerson(the.api, user);
    const remove = (id: string) => `${PATH}/${id}/remove`;
    const nobodys = await person.get(remove(UNKNOWN_ID));
    for (const id of [stranger.id, user.id, 'x', '%00']) {
      const read = await person.get(remove(id));
      expect([read.status, read.text], id).to.deep.equal([404, nobodys.text]);
      const sent = { once: randomUUID(), confirm_password: user.password };
      expect((await person.post(remove(id), sent)).status, id).to.equal(404);
    }
    const once = await person.onceOf(remove(colleague.id));
    for (const round of ['once', 'and a second post'])
      expect(await person.post(remove(colleague.id), { once }), round).to.deep.include({
        status: 303,
        location: PATH,
      });
    const gone = await person.post(remove(colleague.id), { once: randomUUID() });
    expect(gone.status).to.equal(404);
    const invite = async (email: string) =>
      await person.post(`${PATH}/invite`, { once: randomUUID(), email });
    for (const email of [stranger.email, user.email, 'none', ''])
      expect(await invite(email), email).to.deep.include({ status: 400 });
    expect((await invite(stranger.email)).text).to.include('id="email-error"');
  });
});
