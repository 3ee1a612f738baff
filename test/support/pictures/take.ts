import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from '../../../dev/support/browser.ts';
import { stopParts } from '../../../dev/support/parts.ts';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { askWithdrawChange, checkWithdrawChange } from '../../../src/services/merchants/withdraw-changes.ts';
import { openDashboard } from '../http/dashboard.ts';
import { type Shop, startShop } from '../payment-shop.ts';
import { ROOT } from '../repository/files.ts';

// `npm run pictures`: the pictures of the documents, taken anew of pages with made-up data.

const FOLDER = join(ROOT, 'docs/images');
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true } as const;
const DESK = { viewport: { width: 1_080, height: 760 } } as const;
const DAYS = 30;

type Shot = { readonly browser: Browser; readonly shop: Shop };

mkdirSync(FOLDER, { recursive: true });
const [shop, browser] = await Promise.all([startShop(), startBrowser()]);
await checkouts({ shop, browser });
await dashboards({ shop, browser });
await browser.close();
await shop.stop();
await stopParts();

async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
}

async function checkouts({ shop, browser }: Shot): Promise<void> {
  const order = { description: 'Order 1001: a lamp', usd: '49.90' };
  const shown = async (name: string, token: string, options: BrowserContextOptions, query = '') => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(`${shop.api.origin}/pay/${token}${query}`);
    await take(page, name);
    await context.close();
  };
  const link = async (more: Parameters<Shop['link']>[0] = {}, mode: 'live' | 'test' = 'live') => {
    const customerId = await shop.customer(mode);
    const made = await shop.link({
      customerId,
      mode,
      successUrl: 'https://shop.example/',
      ...order,
      ...more,
    });
    return { customerId, token: made.token };
  };
  const pending = await link();
  await shown('checkout', pending.token, PHONE);
  await shown('checkout-dark', pending.token, { ...PHONE, colorScheme: 'dark' }, '?lang=de');
  const seen = await link();
  await shop.pay(seen.customerId, { coins: '49.9', state: 'confirming' });
  await shown('checkout-seen', seen.token, PHONE);
  const part = await link();
  await shop.pay(part.customerId, { coins: '20' });
  await shown('checkout-part', part.token, PHONE);
  const paid = await link();
  await shop.pay(paid.customerId, { coins: '49.9' });
  await shown('checkout-paid', paid.token, PHONE);
  const test = await link({}, 'test');
  await shown('checkout-test', test.token, PHONE);
}

async function dashboards({ shop, browser }: Shot): Promise<void> {
  const deposit = await aMonth(shop);
  const { page, context, user } = await openDashboard(browser, shop.api, DESK);
  const go = async (path: string, name: string) => {
    await page.goto(`${shop.api.origin}/dashboard${path}`);
    await take(page, name);
  };
  await go('', 'dashboard');
  await go('/deposits', 'dashboard-deposits');
  await go(`/deposits/${deposit}`, 'dashboard-deposit');
  await go('/endpoints', 'dashboard-endpoints');
  await changeAddress(shop, user.id);
  await page.emulateMedia({ colorScheme: 'dark' });
  await go('/settings/withdraw', 'dashboard-withdraw');
  await page.setViewportSize(PHONE.viewport);
  await go('/deposits', 'dashboard-phone');
  await context.close();
}

/** Deposits of thirty days and an endpoint. Returns the last deposit. */
async function aMonth(shop: Shop): Promise<string> {
  const { merchantId, deps } = shop;
  const scope = { merchantId, mode: 'live' } as const;
  await createEndpoint(deps, {
    ...scope,
    url: 'https://shop.example/hooks',
    events: ['*'],
    description: 'The shop',
  });
  const customers = [await shop.customer(), await shop.customer(), await shop.customer()];
  shop.pass(-DAYS * 86_400);
  let last = '';
  for (let day = 0; day <= DAYS; day += 1) {
    for (let one = 0; one < 1 + ((day * 7) % 4); one += 1) {
      const coins = `${12 + ((day * 31 + one * 17) % 90)}.5`;
      const network = (day + one) % 3 === 0 ? 'tron' : 'bsc';
      const customerId = customers[(day + one) % customers.length] ?? '';
      last = await shop.pay(customerId, { coins, network, state: day === DAYS ? 'confirming' : 'completed' });
    }
    if (day < DAYS) shop.pass(86_400);
  }
  return last;
}

/** A withdraw address that waits until it counts. */
async function changeAddress({ deps, merchantId }: Shop, userId: string): Promise<void> {
  const acting = { ...deps, actor: { kind: 'user', userId, from: '203.0.113.7' } } as const;
  const address = '0x4838B106FCe9647Bdf1E7877BF73cE8B0BAD5f97';
  const checked = await checkWithdrawChange(new Map(), { network: 'bsc', address });
  await askWithdrawChange(acting, merchantId, checked);
}
