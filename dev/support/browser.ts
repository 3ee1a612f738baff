import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where Debian puts it. */
const CHROMIUM = '/usr/bin/chromium';

/** A real browser, the one of the system. Throws a sentence that says how to get it where it is missing. */
export async function startBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM))
    throw new Error(`${CHROMIUM} is not on this machine. Install it: apt-get install -y chromium`);
  // Root cannot use Chromium's sandbox; the pages are our own, on this machine.
  return await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
