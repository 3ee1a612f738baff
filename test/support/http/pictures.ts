import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ROOT } from '../repository/files.ts';

const FOLDER = join(ROOT, 'test/screenshots');

/** Keeps a picture of the whole page as it is now, for people to look through; git does not keep it. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
}
