import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { allowNetwork } from '../../../src/services/access/allowlist.ts';
import { enableTotp } from '../../../src/services/access/users.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { askWithdrawChange } from '../../../src/services/merchants/withdraw-changes.ts';
import { troublesOf } from '../../support/gateway.ts';
import { barriers } from '../../support/http/axe.ts';
import { overflowOf } from '../../support/http/browser.ts';
import { openDashboard, unexpected } from '../../support/http/dashboard.ts';
import { formPerson } from '../../support/http/form-person.ts';
import { browserStage } from '../../support/http/stage.ts';
import { newUser, signIn } from '../../support/sign-in.ts';

const HOSTILE = `</td><script>window.hit = 1</script>"'\u202egnp.exe ${'w'.repeat(80)}`;
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const OTHER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';

const FIELDS = ['name', 'label', 'address', 'network', 'email', 'present', 'code', 'confirm_password'];
/** Forms for which any text is a good one, or that have no field. */
const TAKES_ANYTHING = /\/(name|end-others)$/;

/** Every page of the settings, empty and with whatever a merchant may have, keeps nobody from using it. */
describe('the pages of settings and of the own sign-in', function () {
  this.timeout(120_000);
  const the = browserStage();

  const EMPTY = [
    '/settings',
    '/settings/name',
    '/settings/keys',
    '/settings/keys/new',
    '/settings/withdraw',
    '/settings/withdraw/bsc',
    '/settings/allowlist',
    '/settings/team',
    '/settings/team/invite',
    '/settings/audit',
    '/account',
    '/account/password',
    '/account/totp',
  ];

  /** What is wrong with the pages, light and dark, on a phone and on a desk. */
  const wrongWith = async (page: Page, paths: readonly string[], base = '/dashboard'): Promise<string[]> => {
    const wrong: string[] = [];
    for (const path of paths)
      for (const [colorScheme, width] of [
        ['light', 320],
        ['dark', 1_100],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        const answer = await page.goto(`${the.api.origin}${base}${path}`);
        const where = `${path} ${colorScheme}: `;
        if (answer?.status() !== 200) wrong.push(`${where}${answer?.status()}`);
        const over = await overflowOf(page);
        if (over > 0) wrong.push(`${where}${over} px too wide`);
        wrong.push(...(await barriers(page)).map((text) => where + text));
        if (await page.evaluate('"hit" in window')) wrong.push(`${where}ran a stranger's text`);
      }
    return wrong;
  };

  it('are for everybody where nothing is set yet', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, { merchantId, path: '/dashboard/account' });
    const wrong = await wrongWith(signedIn.page, EMPTY);
    const ofTests = EMPTY.filter((path) => !/withdraw|allowlist/.test(path)).slice(0, 4);
    expect([...wrong, ...(await wrongWith(signedIn.page, ofTests, '/dashboard/test'))]).to.deep.equal([]);
    await signedIn.context.close();
    expect(unexpected(signedIn)).to.deep.equal([]);
  });

  it('are for everybody with keys, addresses that wait, people, and texts that want to be more', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    await updateMerchant(the.api.deps, { merchantId, name: HOSTILE, withdraw: { bsc: ADDRESS } });
    const signedIn = await openDashboard(the.browser, the.api, { merchantId, path: '/dashboard/account' });
    const { page, user } = signedIn;
    const deps = {
      ...the.api.deps,
      actor: { kind: 'user', userId: user.id, from: '2001:db8:1:2::/64' } as const,
    };
    const { id: keyId } = await createKey(deps, { merchantId, mode: 'live', label: HOSTILE });
    await allowNetwork(deps, { merchantId, network: '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff' });
    const colleague = await newUser(the.api, merchantId);
    await signIn(the.api, user);
    const asked = { network: 'bsc', address: OTHER, contractAllowed: true } as const;
    const change = await askWithdrawChange(deps, merchantId, asked);
    const network = encodeURIComponent('2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff/128');
    const wrong = await wrongWith(page, [
      '/settings/keys',
      `/settings/keys/${keyId}/revoke`,
      `/settings/keys/${keyId}/rotate`,
      '/settings/withdraw',
      '/settings/withdraw/bsc',
      '/settings/withdraw/bsc/remove',
      `/settings/withdraw/${change.id}/cancel`,
      '/settings/allowlist',
      `/settings/allowlist/remove?network=${network}`,
      '/settings/team',
      `/settings/team/${colleague.id}/remove`,
      '/settings/audit',
      '/account',
    ]);
    expect(wrong).to.deep.equal([]);
    await signedIn.context.close();
    expect(unexpected(signedIn)).to.deep.equal([]);
    expect(troublesOf(the.api)).to.deep.equal([]);
  });

  it('are for everybody when something was wrong, when a secret is shown, and with a code from an app', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, {
      merchantId,
      path: '/dashboard/settings/team/invite',
    });
    const { page, user, context } = signedIn;
    const wrong: string[] = [];
    const look = async (what: string) =>
      wrong.push(...(await barriers(page)).map((text) => `${what}: ${text}`));
    await page.getByLabel('Email').fill('ben@example.com');
    await page.getByLabel('Your password').fill('not the right one');
    await page.getByRole('button', { name: 'Make the link' }).click();
    await look('a refused step-up');
    await page.getByLabel('Your password').fill(user.password);
    await page.getByRole('button', { name: 'Make the link' }).click();
    await look('a secret that is shown');
    await page.goto(`${the.api.origin}/dashboard/account/totp`);
    await page.getByRole('button', { name: 'Set up an app' }).click();
    await look('a secret for an app');
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overflowOf(page)).to.equal(0);
    await enableTotp(the.api.deps, { email: user.email });
    await page.goto(`${the.api.origin}/dashboard/account`);
    expect(new URL(page.url()).pathname).to.equal('/login');
    expect(wrong).to.deep.equal([]);
    await context.close();
    expect(unexpected(signedIn, 403)).to.deep.equal([]);
  });

  it('refuse what is no form, what another origin sends, and what no field takes, with nothing changed', async () => {
    const user = await newUser(the.api);
    const person = await formPerson(the.api, user);
    const stored = async () =>
      JSON.stringify(
        await Promise.all(
          ['merchants', 'api_keys', 'withdraw_changes', 'allowed_networks', 'users', 'password_links'].map(
            (table) => the.api.deps.orm.em.fork().execute(`select * from ${table} order by 1::text`),
          ),
        ),
      );
    const before = await stored();
    const forms = [
      '/settings/name',
      '/settings/keys/new',
      '/settings/withdraw/bsc',
      '/settings/withdraw/bsc/remove',
      '/settings/allowlist',
      '/settings/allowlist/remove',
      '/settings/team/invite',
      '/account/password',
      '/account/totp',
      '/account/totp/begin',
      '/account/totp/end',
      '/account/sessions/end-others',
    ].map((path) => `/dashboard${path}`);
    for (const path of forms) {
      const once = { once: randomUUID() };
      const forged = await person.postRaw(path, once, { Origin: 'https://evil.example' });
      expect(forged.status, path).to.equal(403);
      expect((await person.postRaw(path, {})).status, `${path} without a key`).to.be.within(400, 499);
      if (TAKES_ANYTHING.test(path)) continue;
      for (const value of ['\0', 'x'.repeat(5_000), '<b>', '__proto__']) {
        const members = Object.fromEntries(FIELDS.map((name) => [name, value]));
        const answer = await person.postRaw(path, { once: randomUUID(), ...members });
        expect(answer.status, `${path} ${value.slice(0, 10)}`).to.be.within(400, 499);
      }
    }
    expect(await stored()).to.equal(before);
    expect(troublesOf(the.api)).to.deep.equal([]);
  });
});
