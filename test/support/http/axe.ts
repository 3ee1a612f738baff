import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { kindOf } from './crawl.ts';
import { picture } from './pictures.ts';

/** Every rule for the four levels of WCAG that people ask for, and what is good practice besides. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * What keeps people from using the page, each with the elements that it is about; nothing of any weight. A
 * picture of it is kept, under the page's address unless it has a name.
 */
export async function barriers(page: Page, name?: string): Promise<string[]> {
  await picture(page, name ?? (await nameOf(page)));
  // Its source is evaluated as the page's own tools are: no policy of the page is weakened for it.
  await page.evaluate(`(() => { ${axe.source} })()`);
  return await page.evaluate<string[]>(`(async () => {
    const { violations } = await axe.run(document, { runOnly: { type: 'tag', values: ${JSON.stringify(RULES)} } });
    return violations.map(({ id, impact, nodes }) =>
      id + ' (' + impact + '): ' + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary).join(' | '));
  })()`);
}

/** The address without ids, how wide the window is, and whether it is light or dark. */
async function nameOf(page: Page): Promise<string> {
  const url = new URL(page.url());
  const dark = await page.evaluate<boolean>(`matchMedia('(prefers-color-scheme: dark)').matches`);
  const path = kindOf(url.pathname + url.search).replaceAll(/[^a-z0-9]+/gi, '-');
  return `${path}${page.viewportSize()?.width ?? 0}-${dark ? 'dark' : 'light'}`.replace(/^-/, '');
}
