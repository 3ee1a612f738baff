import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Network } from '../../../src/domain/assets.ts';
import { countWithdrawChanges } from '../../../src/services/merchants/withdraw-count.ts';
import { call, UNKNOWN_ID } from '../../support/gateway.ts';
import { openPage, readText } from '../../support/http/browser.ts';
import { handsOn, openDashboard, submitLogin } from '../../support/http/dashboard.ts';
import { formPerson } from '../../support/http/form-person.ts';
import { browserStage } from '../../support/http/stage.ts';
import { newUser } from '../../support/sign-in.ts';

const FIRST = '0x52908400098527886E0F7030069857D2E4169EE7';
const SECOND = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
const CONTRACT = '0xde709f2102306220921060314715629080e2fb77';
const ON_TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const [TEAM, WITHDRAW] = ['/dashboard/settings/team', '/dashboard/settings/withdraw'];
const DAY_MS = 24 * 3_600_000;

describe('the settings', function () {
  this.timeout(60_000);
  // The clock of the process lies in the past: a changed address counts by that of the database too.
  const clock = { ms: Date.now() - 3 * DAY_MS };
  /** What a chain would say of an address: code runs at one of them, and of one nobody knows. */
  const chains = new Map<Network, { hasCode: (address: string) => Promise<boolean> }>([
    ['bsc', { hasCode: async (key) => CONTRACT.toLowerCase().includes(key) }],
  ]);
  const the = browserStage({
    chains,
    deps: { now: () => new Date(clock.ms) },
    settings: { withdrawChangeDelayMs: DAY_MS },
  });

  const actions = async (merchantId: string): Promise<string[]> => {
    const rows: { action: string }[] = await the.api.deps.orm.em
      .fork()
      .execute(
        'select action from operator_actions where merchant_id = ? and user_id is not null order by action',
        [merchantId],
      );
    return rows.map(({ action }) => action);
  };
  const enter = async (path: string, javaScriptEnabled = true) => {
    const { id: merchantId, keys } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, { merchantId, path, javaScriptEnabled });
    return { ...signedIn, ...handsOn(signedIn), merchantId, keys };
  };
  /** Somebody of a merchant who sends forms; of a new merchant where none is named. */
  const sender = async (merchantId?: string) => {
    const user = await newUser(the.api, merchantId ?? (await the.api.newMerchant()).id);
    return { user, ...(await formPerson(the.api, user)) };
  };
  const opens = async (key: string): Promise<number> =>
    (await call(`${the.api.url}/customers`, { key })).status;

  it('make, replace and end a live key, shown once', async () => {
    const at = await enter('/dashboard/settings', false);
    const { page } = at;
    const takeKey = async (): Promise<string> => {
      const key = await readText(page.locator('#secret-0'));
      await at.go('I have copied it');
      await page.getByRole('heading', { name: 'API keys of live mode' }).waitFor();
      return key;
    };
    await at.go('API keys');
    await at.go('New key');
    await at.type('Label', 'shop server');
    await page.getByLabel('Everything, also what is added later').uncheck();
    await page.getByLabel('Read', { exact: true }).check();
    await at.type('Your password', at.user.password);
    await at.press('Make the key');
    const key = await takeKey();
    expect(key).to.match(/^sk_live_/);
    expect(await opens(key)).to.equal(200);
    const row = page.getByRole('row').filter({ hasText: 'shop server' });
    expect(await readText(row))
      .to.include('read')
      .and.include('Never')
      .and.not.include(key);
    await row.getByRole('link', { name: 'Replace' }).click();
    await page.getByLabel('The old key works').selectOption('none');
    await at.press('Make the new key');
    const next = await takeKey();
    expect([await opens(key), await opens(next)]).to.deep.equal([401, 200]);
    const newRow = page.getByRole('row').filter({ hasText: next.slice(-4) });
    await newRow.getByRole('link', { name: 'End' }).click();
    await at.press('End this key');
    expect(await opens(next)).to.equal(401);
    expect(await actions(at.merchantId)).to.deep.equal(['key.create', 'key.revoke', 'key.rotate']);
    await at.leave(404);
  });

  it('let live keys be used from listed networks alone, and show where the person is', async () => {
    const at = await enter('/dashboard/settings/allowlist');
    const { page, keys } = at;
    expect(await at.main()).to.include('Your live keys work from everywhere');
    expect(await readText(page.locator('#network-hint'))).to.include('You yourself are at 127.0.0.1.');
    await at.type('Network', '203.0.113.7/24');
    await at.type('Your password', at.user.password);
    await at.press('Allow this network');
    expect(await readText(page.locator('#network-error'))).to.include('203.0.113.0/24');
    await at.type('Network', '203.0.113.0/24');
    await at.press('Allow this network');
    expect(await opens(keys.live)).to.equal(403);
    await at.go('Take off the list: 203.0.113.0/24');
    expect(await at.main()).to.include('The list is empty then');
    await at.press('Take it off the list');
    await page.getByText('Your live keys work from everywhere').waitFor();
    expect(await opens(keys.live)).to.equal(200);
    expect(await actions(at.merchantId)).to.deep.equal(['allow-ip.add', 'allow-ip.remove']);
    await at.leave(400);
  });

  it('invite somebody by a link that is shown once and opens once, and remove them again', async () => {
    const at = await enter('/dashboard/settings');
    const { page, user } = at;
    await at.go('Team');
    await at.go('Invite somebody');
    await at.type('Email', 'ben@example.com');
    await at.type('Your password', user.password);
    await at.press('Make the link');
    const link = await readText(page.locator('#secret-0'));
    await at.go('I have copied it');
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
    await page.goto(the.api.origin + TEAM);
    await at.go('Remove ben@example.com');
    await at.press('Remove this person');
    await page.waitForURL((url) => url.pathname === TEAM);
    expect(await at.main()).to.not.include('ben@');
    await other.page.goto(`${the.api.origin}/dashboard/test/customers`);
    expect(new URL(other.page.url()).pathname).to.equal('/login');
    await page.goto(`${the.api.origin}/dashboard/settings/audit`);
    expect(await at.main())
      .to.include('invited somebody')
      .and.include('removed somebody from the team')
      .and.include('chose a password by a link')
      .and.include(user.email)
      .and.include('from 127.0.0.1');
    await other.context.close();
    await at.leave();
  });

  it('let a withdraw address wait for a day after it was changed, seen on every page, and then count', async () => {
    const at = await enter(WITHDRAW);
    const { page, user } = at;
    const ask = async (address: string) => {
      await at.type('New address', address);
      await at.press('Ask for this address');
    };
    await at.go('Set an address on BNB Chain');
    expect(await at.main())
      .to.include('No address')
      .and.include('24 hours from now');
    await at.type('Your password', user.password);
    await ask(FIRST.replace('E7', 'e7'));
    expect(await readText(page.locator('#address-error'))).to.include('not an address on BNB Chain');
    expect(await page.getByLabel('New address').inputValue()).to.equal(FIRST.replace('E7', 'e7'));
    const knows = page.getByLabel('I hold the key of what lies there');
    expect(await knows.count()).to.equal(0);
    await ask(CONTRACT);
    expect(await readText(page.locator('#allow_contract-error'))).to.include('is a contract');
    expect(await knows.count()).to.equal(1);
    await ask(FIRST);
    expect(await readText(page.locator('#on-bsc')))
      .to.include(FIRST)
      .and.include('No address is set')
      .and.include(`Asked for by ${user.email} from 127.0.0.1`);
    await page.goto(`${the.api.origin}/dashboard/test/customers`);
    expect(await at.main()).to.include('was changed and does not count yet');
    clock.ms += DAY_MS + 1_000;
    expect(await countWithdrawChanges(the.api.deps, new Map())).to.equal(1);
    await at.go('Look at it, or cancel it');
    // Nobody is signed in for a day.
    await submitLogin(page, user);
    expect(await readText(page.locator('#on-bsc')))
      .to.include(FIRST)
      .and.not.include('Cancel this change');
    expect(await at.main()).to.not.include('does not count yet');
    const counted = ['withdraw_address.asked', 'withdraw_address.changed'];
    expect(await actions(at.merchantId)).to.deep.equal(counted);
    await at.leave(400);
  });

  it('let anybody of the team take a changed withdraw address back, once, and nobody else; in live mode alone', async () => {
    const person = await sender();
    const ask = (path: string, members: Record<string, string>) =>
      person.post(path, { once: randomUUID(), confirm_password: person.user.password, ...members });
    for (const address of [` ${FIRST} `, SECOND])
      expect((await ask(`${WITHDRAW}/bsc`, { address })).status).to.equal(303);
    const page = await person.get(WITHDRAW);
    expect(page.text).to.include(SECOND).and.not.include(FIRST);
    const cancel = /href="([^"]+\/cancel)"/.exec(page.text)?.[1] ?? '';
    const [colleague, stranger] = [await sender(person.user.merchantId), await sender()];
    const nobodys = await stranger.get(`${WITHDRAW}/${UNKNOWN_ID}/cancel`);
    expect((await stranger.get(cancel)).text).to.equal(nobodys.text);
    expect((await stranger.post(cancel, { once: randomUUID() })).status).to.equal(404);
    const once = await colleague.onceOf(cancel);
    for (const time of ['once', 'twice'])
      expect((await colleague.post(cancel, { once })).status, time).to.equal(303);
    expect((await person.get(WITHDRAW)).text).to.not.include(SECOND);
    const test = '/dashboard/test/settings/withdraw';
    for (const path of [`${WITHDRAW}/nowhere`, `${WITHDRAW}/__proto__`, test, `${test}/bsc`])
      expect((await person.get(path)).status, path).to.equal(404);
    for (const [path, address, status] of [
      [`${WITHDRAW}/nowhere`, FIRST, 404],
      [`${test}/bsc`, FIRST, 404],
      [`${WITHDRAW}/bsc`, ON_TRON, 400],
      [`${WITHDRAW}/tron`, ON_TRON, 400],
      [`${WITHDRAW}/bsc/remove`, '', 400],
    ] as const)
      expect((await ask(path, { address })).status, `${path} ${address}`).to.equal(status);
  });
});
