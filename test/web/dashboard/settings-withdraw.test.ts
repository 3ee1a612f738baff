import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Network } from '../../../src/domain/assets.ts';
import { countWithdrawChanges } from '../../../src/services/merchants/withdraw-count.ts';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { readText } from '../../support/http/browser.ts';
import { openDashboard, submitLogin, unexpected } from '../../support/http/dashboard.ts';
import { formPerson } from '../../support/http/form-person.ts';
import { browserStage } from '../../support/http/stage.ts';
import { newUser } from '../../support/sign-in.ts';

const FIRST = '0x52908400098527886E0F7030069857D2E4169EE7';
const SECOND = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
const CONTRACT = '0xde709f2102306220921060314715629080e2fb77';
const ON_TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const PATH = '/dashboard/settings/withdraw';
const DAY_MS = 24 * 3_600_000;

describe('withdraw addresses in the settings', function () {
  this.timeout(60_000);
  // The clock of the process; a change counts by that of the database too, so it lies in the past.
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
        'select action from operator_actions where merchant_id = ? and user_id is not null order by at, id',
        [merchantId],
      );
    return rows.map(({ action }) => action);
  };

  it('wait for a day after they were changed, seen on every page, and then count', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const signedIn = await openDashboard(the.browser, the.api, { merchantId, path: PATH });
    const { page, context, user } = signedIn;
    await page.getByRole('link', { name: 'Set an address on BNB Chain' }).click();
    expect(await readText(page.locator('main')))
      .to.include('No address')
      .and.include('24 hours from now');
    await page.getByLabel('New address').fill(FIRST.replace('E7', 'e7'));
    await page.getByLabel('Your password').fill(user.password);
    await page.getByRole('button', { name: 'Ask for this address' }).click();
    expect(await readText(page.locator('#address-error'))).to.include('not an address on BNB Chain');
    expect(await page.getByLabel('New address').inputValue()).to.equal(FIRST.replace('E7', 'e7'));
    const knows = page.getByLabel('I hold the key of what lies there');
    expect(await knows.count()).to.equal(0);
    await page.getByLabel('New address').fill(CONTRACT);
    await page.getByRole('button', { name: 'Ask for this address' }).click();
    expect(await readText(page.locator('#allow_contract-error'))).to.include('is a contract');
    expect(await knows.count()).to.equal(1);
    await page.getByLabel('New address').fill(FIRST);
    await page.getByRole('button', { name: 'Ask for this address' }).click();
    expect(await readText(page.locator('#on-bsc')))
      .to.include(FIRST)
      .and.include('No address is set');
    expect(await readText(page.locator('#on-bsc'))).to.include(`Asked for by ${user.email} from 127.0.0.1`);
    await page.goto(`${the.api.origin}/dashboard/test/customers`);
    expect(await readText(page.locator('main'))).to.include('was changed and does not count yet');
    clock.ms += DAY_MS + 1_000;
    expect(await countWithdrawChanges(the.api.deps, new Map())).to.equal(1);
    await page.getByRole('link', { name: 'Look at it, or cancel it' }).click();
    // Nobody is signed in for a day.
    await submitLogin(page, user);
    expect(await readText(page.locator('#on-bsc')))
      .to.include(FIRST)
      .and.not.include('Cancel this change');
    expect(await readText(page.locator('main'))).to.not.include('does not count yet');
    await page.getByRole('link', { name: 'Change on BNB Chain' }).click();
    expect(await readText(page.locator('dl.facts')), 'beside the new one').to.include(FIRST);
    expect(await actions(merchantId)).to.deep.equal(['withdraw_address.asked', 'withdraw_address.changed']);
    await context.close();
    expect(unexpected(signedIn, 400)).to.deep.equal([]);
  });

  it('are taken back by anybody of the team without a password, replaced, and taken away', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const user = await newUser(the.api, merchantId);
    const person = await formPerson(the.api, user);
    const ask = async (network: string, members: Record<string, string>) =>
      await person.post(`${PATH}/${network}`, {
        once: await person.onceOf(`${PATH}/${network}`),
        confirm_password: user.password,
        ...members,
      });
    expect((await ask('bsc', { address: ` ${FIRST} ` })).status).to.equal(303);
    expect((await ask('bsc', { address: SECOND })).status).to.equal(303);
    const page = await person.get(PATH);
    expect(page.text).to.include(SECOND).and.not.include(FIRST);
    const cancel = /href="([^"]+\/cancel)"/.exec(page.text)?.[1] ?? '';
    const colleague = await formPerson(the.api, await newUser(the.api, merchantId));
    const stranger = await formPerson(the.api, await newUser(the.api, (await the.api.newMerchant()).id));
    expect((await stranger.get(cancel)).status).to.equal(404);
    const nobodys = `${PATH}/${UNKNOWN_ID}/cancel`;
    expect((await stranger.get(cancel)).text).to.equal((await stranger.get(nobodys)).text);
    expect((await stranger.post(cancel, { once: randomUUID() })).status).to.equal(404);
    const once = await colleague.onceOf(cancel);
    expect((await colleague.post(cancel, { once })).status).to.equal(303);
    expect((await colleague.post(cancel, { once })).status, 'twice').to.equal(303);
    expect((await person.get(PATH)).text).to.not.include(SECOND);
    expect((await ask('bsc/remove', {})).status, 'nothing to take away').to.equal(400);
    expect(await actions(merchantId)).to.have.members([
      'withdraw_address.asked',
      'withdraw_address.replaced',
      'withdraw_address.asked',
      'withdraw_address.cancelled',
    ]);
    clock.ms += DAY_MS / 2;
  });

  it('are of live mode alone, and of networks that there are', async () => {
    const user = await newUser(the.api, (await the.api.newMerchant()).id);
    const person = await formPerson(the.api, user);
    for (const path of [
      `${PATH}/nowhere`,
      `${PATH}/%00`,
      `${PATH}/__proto__`,
      '/dashboard/test/settings/withdraw',
    ])
      expect((await person.get(path)).status, path).to.equal(404);
    const members = { once: randomUUID(), address: FIRST, confirm_password: user.password };
    for (const path of [`${PATH}/nowhere`, '/dashboard/test/settings/withdraw/bsc'])
      expect((await person.post(path, members)).status, path).to.equal(404);
    for (const [network, address] of [
      ['bsc', ''],
      ['bsc', '\0'],
      ['bsc', ON_TRON],
      ['tron', ON_TRON],
    ] as const) {
      const sent = { ...members, once: randomUUID(), address };
      expect((await person.post(`${PATH}/${network}`, sent)).status, `${network} ${address}`).to.equal(400);
    }
  });
});
