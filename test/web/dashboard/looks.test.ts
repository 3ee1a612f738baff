import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually } from '../../../dev/support/eventually.ts';
import {
  createCustomer,
  createEndpoint,
  createPaymentLink,
  simulateDeposit,
} from '../../../dev/support/use-cases.ts';
import { allowNetwork } from '../../../src/services/access/allowlist.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { askWithdrawChange } from '../../../src/services/merchants/withdraw-changes.ts';
import { troublesOf } from '../../support/gateway.ts';
import { faintTexts } from '../../support/http/browser.ts';
import { busyMerchant } from '../../support/http/busy-merchant.ts';
import { type Crawled, crawl, kindOf } from '../../support/http/crawl.ts';
import { openDashboard, type SignedIn, unexpected } from '../../support/http/dashboard.ts';
import { wrongWith } from '../../support/http/look.ts';
import { browserStage } from '../../support/http/stage.ts';
import { newUser } from '../../support/sign-in.ts';

const HOSTILE = `</td><script>window.hit = 1</script>"'\u202egnp.exe ${'w'.repeat(80)}`;
const [ADDRESS, OTHER] = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
];
/** What is asked for, again where a busy machine answers that it is late. */
const inTime = <T extends { readonly status: number | undefined }>(path: string, ask: () => Promise<T>) =>
  eventually(`an answer of ${path}`, async () => {
    const answer = await ask();
    return answer.status !== 503 && answer;
  });
/** No page is larger: nobody waits for a table. */
const MOST_BYTES = 100_000;
/** What no link leads to: what is wrong, refused or not there. */
const REFUSED = [
  '/deposits?status=gone&network=eth&currency=x&customer_id=1&transaction_hash=1&created_from=1',
  '/payouts?state=gone',
  '/test/links?status=wrong',
  '/events/unknown',
];

/** Every page, with whatever a merchant may have, is for everybody. */
describe('every page of the dashboard', function () {
  this.timeout(180_000);
  const the = browserStage();
  let crawled: Crawled;
  let own: SignedIn;

  /** A merchant with something of everything, and texts that want to be more. */
  const fullMerchant = async () => {
    const { deps } = the.api;
    const busy = await busyMerchant(the.api);
    const { merchantId } = busy;
    await updateMerchant(deps, { merchantId, name: HOSTILE, withdraw: { bsc: ADDRESS ?? '' } });
    const user = await newUser(the.api, merchantId);
    const acting = { ...deps, actor: { kind: 'user', userId: user.id, from: '2001:db8:1:2::/64' } as const };
    await createKey(acting, { merchantId, mode: 'live', label: HOSTILE });
    await allowNetwork(acting, { merchantId, network: '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff' });
    const change = { network: 'bsc', address: OTHER ?? '', contractAllowed: true } as const;
    await askWithdrawChange(acting, merchantId, change);
    const scope = { merchantId, mode: 'test' } as const;
    const url = `http://127.0.0.1:9/${'x'.repeat(300)}`;
    await createEndpoint(deps, { ...scope, url, events: ['*'], description: HOSTILE });
    const names = { externalId: HOSTILE, email: null, name: HOSTILE, metadata: { order: HOSTILE } };
    const customer = await createCustomer(deps, { ...scope, ...names });
    const { link } = await createPaymentLink(deps, {
      ...scope,
      customerId: customer.id,
      amountCents: 100_000_000n,
      publicUrl: the.api.origin,
      description: HOSTILE.repeat(3),
      externalId: HOSTILE,
      successUrl: 'https://shop.example/thanks',
      metadata: { order: HOSTILE },
    });
    const coins = { network: 'bsc', currency: 'USDT', amountUnits: 10n ** 19n } as const;
    const pays = { paymentToken: link.token, outcome: 'completed', events: 'full' } as const;
    await simulateDeposit(deps, { merchantId, customerId: customer.id, ...coins, ...pays });
    return busy;
  };

  before(async () => {
    const { merchantId } = await fullMerchant();
    own = await openDashboard(the.browser, the.api, { merchantId });
    const get = (path: string) =>
      inTime(path, async () => {
        const answer = await own.context.request.get(the.api.origin + path);
        return { status: answer.status(), text: await answer.text() };
      });
    crawled = await crawl('/dashboard', /^\/dashboard(?!.*\.(csv|json))/, get);
  });

  /** One path of each kind, those of both modes alike. */
  const kinds = () => [
    ...new Map([...crawled.pages.keys()].map((path) => [kindOf(path).replace('/test', ''), path])).values(),
  ];
  const look = async (page: Page, path: string, turn: number): Promise<string[]> => {
    const [colorScheme, width] = turn % 2 === 0 ? (['light', 320] as const) : (['dark', 1_280] as const);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const answer = await inTime(path, async () => {
      const response = await page.goto(the.api.origin + path);
      return { status: response?.status(), bytes: (await response?.body())?.length ?? 0 };
    });
    const name = `${kindOf(path)
      .replaceAll(/[^a-z0-9]+/gi, '-')
      .slice(0, 80)}-${width}`;
    const { bytes } = answer;
    const wrong = await wrongWith(page, name, { closed: true });
    expect(await faintTexts(page, 4.5), name).to.deep.equal([]);
    return bytes > MOST_BYTES ? [...wrong, `${name}: ${bytes} bytes`] : wrong;
  };

  it('is for everybody, on a phone and on a desk, light and dark, and runs no stranger’s text', async () => {
    const paths = [...kinds(), ...REFUSED.map((path) => `/dashboard${path}`)];
    expect(paths.length, paths.join(' ')).to.be.at.least(50);
    const wrong: string[] = [];
    for (const [turn, path] of paths.entries()) wrong.push(...(await look(own.page, path, turn)));
    expect(wrong).to.deep.equal([]);
    expect(unexpected(own, 400, 404, 503)).to.deep.equal([]);
    expect(troublesOf(the.api)).to.deep.equal([]);
  });
});
