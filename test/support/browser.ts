import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Where Debian puts it. */
const CHROMIUM = '/usr/bin/chromium';

/** A real browser, the one of the system. Throws a sentence that says how to get it where it is missing. */
export async function startBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is not on this machine. Install it: apt-get install -y chromium`);
  // Root has no sandbox of Chromium's; the pages are our own, on this machine.
  return await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** A page that notes everything a good one never does. */
export type WatchedPage = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors, violations of the content security policy, script errors, dialogs, and requests to anybody else. */
  readonly complaints: readonly string[];
  /** Paths of our own that were asked for, in order. */
  readonly requests: readonly string[];
};

/** A new page in a context of its own that may talk to `origin` alone. */
export async function openPage(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('dialog', async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol === 'data:') return;
    if (url.origin === origin) requests.push(url.pathname + url.search);
    else complaints.push(`request: ${request.url()}`);
  });
  page.on('requestfailed', (request) => complaints.push(`failed request: ${request.url()}`));
  return { page, context, complaints, requests };
}
