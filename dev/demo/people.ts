import { randomBytes } from 'node:crypto';
import { createClient } from '../../packages/sdk/src/client.ts';
import { runCommand } from './gateway-process.ts';
import type { Screen } from './screen.ts';

/** Where people go on by themselves: the dashboard, with what signs in there, and a page to pay on. */
export type ForPeople = {
  readonly dashboard: string;
  readonly email: string;
  readonly password: string;
  readonly checkout: string;
};

const EMAIL = 'merchant@example.com';
const AMOUNT_USD = '49.90';

/**
 * Makes a user of the merchant and a payment link of test mode, whose page has a form that simulates the
 * payment. The password is made up anew each time.
 */
export async function prepareForPeople(
  {
    api,
    merchantId,
    testKey,
  }: { readonly api: string; readonly merchantId: string; readonly testKey: string },
  env: NodeJS.ProcessEnv,
  screen: Screen,
): Promise<ForPeople> {
  const password = `demo-${randomBytes(6).toString('hex')}`;
  await screen.step('a user of the dashboard', () =>
    runCommand(['user', 'create', '--merchant', merchantId, '--email', EMAIL], env, `${password}\n`),
  );
  const { url } = await createClient({ baseUrl: api, apiKey: testKey }).payments.request({
    email: 'customer@example.com',
    amount_usd: AMOUNT_USD,
    description: 'Order 1001: a lamp',
    success_url: 'https://shop.example/thanks',
    cancel_url: 'https://shop.example/cart',
  });
  screen.line(`✓ a payment link of test mode for ${AMOUNT_USD} USD`);
  return { dashboard: new URL('/dashboard', api).href, email: EMAIL, password, checkout: url };
}
