import type { Browser } from 'playwright-core';
import { sharedBrowser } from '../../../dev/support/browser.ts';
import { startTestApi, type TestApi, type TestApiOptions } from '../gateway.ts';
import { type Shop, startShop } from '../payment-shop.ts';

/** The API with its pages, and a browser to look at them. */
export type BrowserStage = { readonly api: TestApi; readonly browser: Browser };
/** A shop whose clock the test sets, and a browser for its payers. */
export type ShopStage = { readonly shop: Shop; readonly browser: Browser };

/** Opens both before the tests of the `describe` that calls it, and closes them after the last one. */
export function browserStage(options: TestApiOptions = {}): BrowserStage {
  return stageOf('api', () => startTestApi(options));
}

/** The same with a shop. */
export function shopStage(options: TestApiOptions = {}): ShopStage {
  return stageOf('shop', () => startShop(options));
}

function stageOf<Name extends string, Server extends { stop(): Promise<void> }>(
  name: Name,
  start: () => Promise<Server>,
): Record<Name, Server> & { readonly browser: Browser } {
  const stage: { browser?: Browser } & Partial<Record<string, unknown>> = {};
  let server: Server | undefined;
  before(async () => {
    [server, stage.browser] = await Promise.all([start(), sharedBrowser()]);
    Object.assign(stage, { [name]: server });
  });
  after(async () => {
    // The next file has the same browser: what a test left open follows nothing any more.
    for (const context of stage.browser?.contexts() ?? []) await context.close();
    await server?.stop();
  });
  // Both are there whenever a test runs.
  return stage as Record<Name, Server> & { readonly browser: Browser };
}
