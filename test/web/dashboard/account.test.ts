import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { enableTotp } from '../../../src/services/access/users.ts';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { readText } from '../../support/http/browser.ts';
import { openDashboard, unexpected } from '../../support/http/dashboard.ts';
import { formPerson } from '../../support/http/form-person.ts';
import { browserStage } from '../../support/http/stage.ts';
import { newUser, postLogin, signIn } from '../../support/sign-in.ts';

const STEP_MS = 30_000;
const NEXT = 'a wholly new battery';

describe('the own sign-in in the dashboard', function () {
  this.timeout(60_000);
  const clock = { ms: Date.now() };
  const the = browserStage({ deps: { now: () => new Date(clock.ms) } });

  const actions = async (userId: string): Promise<string[]> => {
    const rows: { action: string }[] = await the.api.deps.orm.em
      .fork()
      .execute('select action from operator_actions where user_id = ? order by at, id', [userId]);
    return rows.map(({ action }) => action);
  };

  it('gets another password, goes on here and ends everywhere else', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, { merchantId, path: '/dashboard/settings' });
    const { page, context, user } = signedIn;
    const elsewhere = await signIn(the.api, user);
    await page.getByRole('link', { name: 'Your own sign-in' }).click();
    await page.getByRole('link', { name: 'Change your password' }).click();
    const change = async (present: string, again = NEXT) => {
      await page.getByLabel('Your present password').fill(present);
      await page.getByLabel('New password').fill(NEXT);
      await page.getByLabel('The same again').fill(again);
      await page.getByRole('button', { name: 'Change the password' }).click();
    };
    await change(user.password, 'another one');
    expect(await readText(page.locator('#again-error'))).to.include('not the same');
    await change('not mine at all');
    expect(await readText(page.locator('#present-error'))).to.include('not your present password');
    expect(await page.content()).to.not.include('not mine at all');
    await change(user.password);
    expect(await readText(page.locator('main'))).to.include('Your password is changed');
    expect(await readText(page.locator('main'))).to.include('You are signed in nowhere else');
    clock.ms += STEP_MS;
    await page.reload();
    expect(await readText(page.locator('h1')), 'signed in still').to.equal('Your own sign-in');
    const old = await fetch(`${the.api.origin}/dashboard/account`, {
      redirect: 'manual',
      headers: { Cookie: elsewhere },
    });
    expect(old.status).to.equal(303);
    expect((await postLogin(the.api, user)).status).to.equal(401);
    expect((await postLogin(the.api, { ...user, password: NEXT })).status).to.equal(200);
    expect(await actions(user.id)).to.deep.equal(['user.change-password']);
    await context.close();
    expect(unexpected(signedIn, 400)).to.deep.equal([]);
  });

  it('changes a password once, however often the form is posted, and is not signed out by a lost answer', async () => {
    const user = await newUser(the.api);
    const person = await formPerson(the.api, user);
    const path = '/dashboard/account/password';
    const members = { once: await person.onceOf(path), present: user.password, password: NEXT, again: NEXT };
    const answers = [await person.postRaw(path, members), await person.postRaw(path, members)];
    expect(answers.map(({ status }) => status)).to.deep.equal([303, 303]);
    expect(answers[1]?.location).to.equal(answers[0]?.location);
    expect(answers[1]?.cookie).to.be.a('string').and.equal(answers[0]?.cookie);
    expect(await actions(user.id)).to.deep.equal(['user.change-password']);
    person.state.cookie = answers[1]?.cookie ?? '';
    clock.ms += STEP_MS;
    expect((await person.get('/dashboard/account')).status).to.equal(200);
  });

  it('asks for codes of an app once it gave one, takes another app, and asks for none again', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, {
      merchantId,
      path: '/dashboard/account/totp',
    });
    const { page, context, user } = signedIn;
    await page.getByLabel('Your password').fill(user.password);
    await page.getByRole('button', { name: 'Set up an app' }).click();
    const secret = await readText(page.locator('#totp-secret'));
    expect(await page.getByRole('img', { name: /QR code/ }).count()).to.equal(1);
    const code = () => new TOTP({ secret }).generate({ timestamp: clock.ms });
    const wrong = code() === '000000' ? '111111' : '000000';
    await page.getByLabel('Code that your app shows now').fill(wrong);
    await page.getByRole('button', { name: 'Ask for codes from now on' }).click();
    expect(await readText(page.locator('#code-error'))).to.include('not a code of the new secret');
    expect((await postLogin(the.api, user)).status, 'not yet').to.equal(200);
    await page.getByLabel('Code that your app shows now').fill(code());
    await page.getByRole('button', { name: 'Ask for codes from now on' }).click();
    expect(await readText(page.locator('main'))).to.include('From now on a code of your app is asked for');
    expect((await postLogin(the.api, user)).status).to.equal(401);
    clock.ms += STEP_MS;
    await page.getByRole('link', { name: 'Change it' }).click();
    await page.getByRole('link', { name: 'Ask for no code any more' }).click();
    await page.getByLabel('Your password').fill(user.password);
    await page.getByLabel('Code from your authenticator app').fill(code());
    await page.getByRole('button', { name: 'Ask for no code any more' }).click();
    expect(await readText(page.locator('main'))).to.include('No code is asked for any more');
    expect((await postLogin(the.api, user)).status).to.equal(200);
    expect(await actions(user.id)).to.deep.equal(['user.totp', 'user.totp']);
    await context.close();
    expect(unexpected(signedIn, 400)).to.deep.equal([]);
  });

  it('ends codes once, by one form with password and code, however often it is posted', async () => {
    const user = await newUser(the.api);
    const { secret } = await enableTotp(the.api.deps, { email: user.email });
    const code = () => new TOTP({ secret }).generate({ timestamp: clock.ms });
    const person = await formPerson(the.api, user, { totp: code() });
    clock.ms += STEP_MS;
    const path = '/dashboard/account/totp/end';
    const proof = { confirm_password: user.password, confirm_code: code() };
    const members = { once: await person.onceOf(path), ...proof };
    const answers = [await person.postRaw(path, members), await person.postRaw(path, members)];
    expect(answers.map(({ status }) => status)).to.deep.equal([303, 303]);
    expect(answers[1]?.location).to.equal(answers[0]?.location);
    expect(answers[1]?.cookie).to.be.a('string').and.equal(answers[0]?.cookie);
    expect(await actions(user.id)).to.deep.equal(['user.totp']);
    clock.ms += STEP_MS;
    person.state.cookie = answers[1]?.cookie ?? '';
    expect((await person.get('/dashboard/account')).text).to.include('Not asked for');
  });

  it('ends one or all of its other sign-ins, and none of anybody else', async () => {
    const user = await newUser(the.api);
    const [phone, tablet] = [await signIn(the.api, user), await signIn(the.api, user)];
    const other = await newUser(the.api);
    const stranger = await formPerson(the.api, other);
    const person = await formPerson(the.api, user);
    const isIn = async (cookie: string) =>
      (
        await fetch(`${the.api.origin}/dashboard/account`, {
          redirect: 'manual',
          headers: { Cookie: cookie },
        })
      ).status;
    const ends = [...(await person.get('/dashboard/account')).text.matchAll(/action="([^"]+\/end)"/g)].map(
      ([, path = '']) => path,
    );
    expect(ends).to.have.length(2);
    const sent = () => ({ once: randomUUID() });
    expect((await stranger.post(ends[0] ?? '', sent())).status).to.equal(404);
    expect((await person.post(`/dashboard/account/sessions/${UNKNOWN_ID}/end`, sent())).status).to.equal(404);
    expect((await person.post(ends[0] ?? '', sent())).status).to.equal(303);
    expect([await isIn(phone), await isIn(tablet)].sort()).to.deep.equal([200, 303]);
    expect((await person.post('/dashboard/account/sessions/end-others', sent())).status).to.equal(303);
    expect([
      await isIn(phone),
      await isIn(tablet),
      (await person.get('/dashboard/account')).status,
    ]).to.deep.equal([303, 303, 200]);
    expect((await stranger.get('/dashboard/account')).status).to.equal(200);
    expect(await actions(user.id)).to.deep.equal(['user.end-sessions', 'user.end-sessions']);
  });

  it('stays open where the subscription has lapsed, and says so', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const person = await formPerson(the.api, await newUser(the.api, merchantId));
    await the.api.deps.orm.em
      .fork()
      .execute('update merchants set subscription_active = false where id = ?', [merchantId]);
    for (const path of ['/account', '/settings', '/settings/withdraw', '/settings/team', '/settings/audit']) {
      const page = await person.get(`/dashboard${path}`);
      expect(page.status, path).to.equal(200);
      expect(page.text).to.include('Your subscription is not active');
    }
    expect((await person.get('/dashboard/customers')).status).to.equal(403);
  });
});
