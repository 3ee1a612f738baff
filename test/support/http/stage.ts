import type { Browser } from 'playwright-core';
import { startBrowser } from '../../../dev/support/browser.ts';
import { startTestApi, type TestApi, type TestApiOptions } from '../gateway.ts';

/** The API with its pages, and a browser to look at them. */
export type BrowserStage = { readonly api: TestApi; readonly browser: Browser };

/** Opens both before the tests of the `describe` that calls it, and closes them after the last one. */
export function browserStage(options: TestApiOptions = {}): BrowserStage {
  const stage: { api?: TestApi; browser?: Browser } = {};
  before(async () => {
    [stage.api, stage.browser] = await Promise.all([startTestApi(options), startBrowser()]);
  });
  after(async () => {
    await stage.browser?.close();
    await stage.api?.stop();
  });
  // Both are there whenever a test runs.
  return stage as BrowserStage;
}
