import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { call, troublesOf } from '../../support/gateway.ts';
import { readText } from '../../support/http/browser.ts';
import { openDashboard, unexpected } from '../../support/http/dashboard.ts';
import { formPerson } from '../../support/http/form-person.ts';
import { browserStage } from '../../support/http/stage.ts';
import { newUser } from '../../support/sign-in.ts';

describe('keys, networks and the name in the settings', function () {
  this.timeout(60_000);
  const the = browserStage();

  const actions = async (merchantId: string): Promise<string[]> => {
    const rows: { action: string }[] = await the.api.deps.orm.em
      .fork()
      .execute(
        'select action from operator_actions where merchant_id = ? and user_id is not null order by at',
        [merchantId],
      );
    return rows.map(({ action }) => action);
  };
  const opens = async (key: string): Promise<number> =>
    (await call(`${the.api.url}/customers`, { key })).status;
  const takeKey = async (page: Page): Promise<string> => {
    const key = await readText(page.locator('#secret-0'));
    await page.getByRole('link', { name: 'I have copied it' }).click();
    await page.getByRole('heading', { name: 'API keys of live mode' }).waitFor();
    return key;
  };

  it('make, replace and end a live key, without script too', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, {
      merchantId,
      path: '/dashboard/settings',
      javaScriptEnabled: false,
    });
    const { page, context, user } = signedIn;
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('link', { name: 'New key' }).click();
    await page.getByLabel('Label').fill('shop server');
    await page.getByLabel('Everything, also what is added later').uncheck();
    await page.getByLabel('Read', { exact: true }).check();
    await page.getByLabel('Your password').fill(user.password);
    await page.getByRole('button', { name: 'Make the key' }).click();
    const shownAt = page.url();
    const key = await takeKey(page);
    expect(key).to.match(/^sk_live_/);
    expect(await opens(key)).to.equal(200);
    await page.goto(shownAt);
    expect(await readText(page.locator('h1'))).to.equal('This was shown already');
    await page.goto(`${the.api.origin}/dashboard/settings/keys`);
    const row = page.getByRole('row').filter({ hasText: 'shop server' });
    expect(await readText(row))
      .to.include('read')
      .and.include('Never')
      .and.not.include(key);
    await row.getByRole('link', { name: 'Replace' }).click();
    await page.getByLabel('The old key works').selectOption('none');
    await page.getByRole('button', { name: 'Make the new key' }).click();
    const next = await takeKey(page);
    expect([await opens(key), await opens(next)]).to.deep.equal([401, 200]);
    await page
      .getByRole('row')
      .filter({ hasText: next.slice(-4) })
      .getByRole('link', { name: 'End' })
      .click();
    await page.getByRole('button', { name: 'End this key' }).click();
    expect(await opens(next)).to.equal(401);
    expect(await actions(merchantId)).to.deep.equal(['key.create', 'key.rotate', 'key.revoke']);
    await context.close();
    expect(unexpected(signedIn, 404)).to.deep.equal([]);
  });

  it('ask for no password in test mode', async () => {
    const user = await newUser(the.api);
    const person = await formPerson(the.api, user);
    const path = '/dashboard/test/settings/keys';
    const page = await person.get(`${path}/new`);
    expect(page.text).to.not.include('confirm_password');
    const once = await person.onceOf(`${path}/new`);
    const made = await person.post(`${path}/new`, { once, label: 'ours', 'scopes.all': 'on' });
    expect(made.status).to.equal(303);
    expect((await person.get(made.location ?? '')).text).to.match(/sk_test_/);
  });

  it('say at the field what is wrong, and make nothing then', async () => {
    const person = await formPerson(the.api, await newUser(the.api));
    const path = '/dashboard/test/settings/keys/new';
    const count = async () =>
      (await the.api.deps.orm.em.fork().execute('select 1 from api_keys')).length as number;
    const before = await count();
    for (const [field, members] of [
      ['scopes', { label: 'x' }],
      ['expires', { 'scopes.all': 'on', expires: '2026-02-30' }],
      ['label', { 'scopes.all': 'on', label: 'x'.repeat(201) }],
    ] as const) {
      const answer = await person.post(path, { once: randomUUID(), ...members });
      expect(answer.status, JSON.stringify(members)).to.equal(400);
      expect(answer.text, JSON.stringify(members)).to.include(`id="${field}-error"`);
    }
    expect(await count()).to.equal(before);
    expect(troublesOf(the.api)).to.deep.equal([]);
  });

  it('let live keys be used from listed networks alone, and show where the person is', async () => {
    const { id: merchantId, keys } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, {
      merchantId,
      path: '/dashboard/settings/allowlist',
    });
    const { page, context, user } = signedIn;
    expect(await readText(page.locator('main'))).to.include('Your live keys work from everywhere');
    expect(await readText(page.locator('#network-hint'))).to.include('You yourself are at 127.0.0.1.');
    await page.getByLabel('Network').fill('203.0.113.7/24');
    await page.getByLabel('Your password').fill(user.password);
    await page.getByRole('button', { name: 'Allow this network' }).click();
    expect(await readText(page.locator('#network-error'))).to.include('203.0.113.0/24');
    await page.getByLabel('Network').fill('203.0.113.0/24');
    await page.getByRole('button', { name: 'Allow this network' }).click();
    expect(await opens(keys.live)).to.equal(403);
    await page.getByRole('link', { name: 'Take off the list: 203.0.113.0/24' }).click();
    expect(await readText(page.locator('main'))).to.include('The list is empty then');
    await page.getByRole('button', { name: 'Take it off the list' }).click();
    await page.getByText('Your live keys work from everywhere').waitFor();
    expect(await opens(keys.live)).to.equal(200);
    expect(await actions(merchantId)).to.deep.equal(['allow-ip.add', 'allow-ip.remove']);
    await context.close();
    expect(unexpected(signedIn, 400)).to.deep.equal([]);
  });

  it('give the merchant another name, which every page shows', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const person = await formPerson(the.api, await newUser(the.api, merchantId));
    const path = '/dashboard/settings/name';
    const name = '<script>window.hit = 1</script> & Söhne';
    const empty = await person.post(path, { once: await person.onceOf(path), name: ' ' });
    expect(empty.status).to.equal(400);
    expect(empty.text).to.include('id="name-error"');
    expect((await person.post(path, { once: await person.onceOf(path), name })).status).to.equal(303);
    const page = await person.get('/dashboard/test/settings');
    expect(page.text).to.include('&lt;script&gt;').and.not.include('<script>window');
    expect(await actions(merchantId)).to.deep.equal(['merchant.set']);
    const audit = await person.get('/dashboard/settings/audit');
    expect(audit.text).to.include('changed what is set for the merchant').and.include('Söhne');
  });
});
