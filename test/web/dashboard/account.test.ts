import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { enableTotp } from '../../../src/services/access/users.ts';
import { readText } from '../../support/http/browser.ts';
import { openDashboard, unexpected } from '../../support/http/dashboard.ts';
import { formPerson } from '../../support/http/form-person.ts';
import { pagesBy } from '../../support/http/pages.ts';
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
  const isIn = async (cookie: string) => (await pagesBy(the.api, cookie).get('/dashboard/account')).status;

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
    expect(await readText(page.locator('main')))
      .to.include('Your password is changed')
      .and.include('You are signed in nowhere else');
    clock.ms += STEP_MS;
    await page.reload();
    expect(await readText(page.locator('h1')), 'signed in still').to.equal('Your own sign-in');
    expect([
      await isIn(elsewhere),
      (await postLogin(the.api, user)).status,
      (await postLogin(the.api, { ...user, password: NEXT })).status,
    ]).to.deep.equal([303, 401, 200]);
    expect(await actions(user.id)).to.deep.equal(['user.change-password']);
    await context.close();
    expect(unexpected(signedIn, 400)).to.deep.equal([]);
  });

  it('asks for codes of an app once it gave one, takes another app, and asks for none again', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const path = '/dashboard/account/totp';
    const signedIn = await openDashboard(the.browser, the.api, { merchantId, path });
    const { page, context, user } = signedIn;
    await page.getByLabel('Your password').fill(user.password);
    await page.getByRole('button', { name: 'Set up an app' }).click();
    const secret = await readText(page.locator('#totp-secret'));
    expect(await page.getByRole('img', { name: /QR code/ }).count()).to.equal(1);
    const code = () => new TOTP({ secret }).generate({ timestamp: clock.ms });
    await page.getByLabel('Code that your app shows now').fill(code() === '000000' ? '111111' : '000000');
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

  it('changes once, however often a form is posted; who loses the answer signs in again', async () => {
    const [user, careful] = [await newUser(the.api), await newUser(the.api)];
    const { secret } = await enableTotp(the.api.deps, { email: careful.email });
    const code = () => new TOTP({ secret }).generate({ timestamp: clock.ms });
    const guarded = await formPerson(the.api, careful, { totp: code() });
    clock.ms += STEP_MS;
    for (const [who, path, members, action] of [
      [
        { person: await formPerson(the.api, user), id: user.id },
        '/dashboard/account/password',
        { present: user.password, password: NEXT, again: NEXT },
        'user.change-password',
      ],
      [
        { person: guarded, id: careful.id },
        '/dashboard/account/totp/end',
        { confirm_password: careful.password, confirm_code: code() },
        'user.totp',
      ],
    ] as const) {
      const { person, id } = who;
      const sent = { once: await person.onceOf(path), ...members };
      const first = await person.postRaw(path, sent);
      const lost = await person.postRaw(path, sent);
      expect(`${lost.status},${lost.location}`).to.match(/303,\/login\?/);
      person.state.cookie = first.cookie ?? '';
      const again = await person.post(path, sent);
      expect([again.status, again.location]).to.deep.equal([303, first.location]);
      expect(await actions(id)).to.deep.equal([action]);
      expect(await isIn(person.state.cookie)).to.equal(200);
    }
  });

  it('ends one or all of its other sign-ins, and none of anybody else', async () => {
    const user = await newUser(the.api);
    const [phone, tablet] = [await signIn(the.api, user), await signIn(the.api, user)];
    const stranger = await formPerson(the.api, await newUser(the.api));
    const person = await formPerson(the.api, user);
    const shown = (await person.get('/dashboard/account')).text;
    const ends = [...shown.matchAll(/action="([^"]+\/end)"/g)].map(([, path = '']) => path);
    expect(ends).to.have.length(2);
    const end = async (who: typeof person, path = '') =>
      (await who.post(path, { once: randomUUID() })).status;
    expect([await end(stranger, ends[0]), await end(person, ends[0])]).to.deep.equal([404, 303]);
    expect([await isIn(phone), await isIn(tablet)].sort()).to.deep.equal([200, 303]);
    expect(await end(person, '/dashboard/account/sessions/end-others')).to.equal(303);
    const own = await isIn(person.state.cookie);
    expect([await isIn(phone), await isIn(tablet), own]).to.deep.equal([303, 303, 200]);
    expect(await isIn(stranger.state.cookie)).to.equal(200);
    expect(await actions(user.id)).to.deep.equal(['user.end-sessions', 'user.end-sessions']);
  });
});
