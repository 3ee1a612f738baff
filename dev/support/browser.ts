import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { testRun } from './test-run.ts';

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

let shared: Promise<Browser> | undefined;

/**
 * The one browser that all tests of this process share, started at the first call and closed when they end.
 * Each opens contexts of its own, which know nothing of each other.
 */
export function sharedBrowser(): Promise<Browser> {
  if (!shared) {
    shared = startBrowser();
    testRun.atEnd.push(async () => await (await shared)?.close());
  }
  return shared;
}
