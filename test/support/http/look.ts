import type { Page } from 'playwright-core';
import { barriers } from './axe.ts';

type Look = {
  /** What has to be as large as a finger. */
  readonly targets?: string;
  /** Whether what is folded stays so; else it is opened first. */
  readonly closed?: boolean;
};

/**
 * What is wrong with a page for whoever looks at it, in whatever window and colours it is shown: wider than
 * the window, texts that are cut off, things to press that are smaller than a finger, a number that breaks,
 * not one heading of the first level, an id twice, a text made of a value that is not there, a stranger's
 * text that ran, and whatever keeps people out. Nothing where the page is as it should be.
 */
export async function wrongWith(page: Page, name: string, look: Look = {}): Promise<string[]> {
  const { targets, closed } = look;
  if (!closed)
    await page.evaluate('document.querySelectorAll("main details").forEach((one) => { one.open = true; })');
  const seen = await page.evaluate<string[]>(`(() => {
    const wrong = [];
    const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (over > 0) wrong.push(over + ' px too wide');
    for (const one of document.querySelectorAll('main *:not(progress):not(.hidden):not(svg *)')) {
      const hides = getComputedStyle(one).overflow === 'hidden' && one.clientWidth > 1;
      if (hides && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1))
        wrong.push('cut off: ' + one.outerHTML.slice(0, 100));
    }
    for (const one of document.querySelectorAll(${JSON.stringify(targets ?? 'no-targets')}))
      if (one.getClientRects().length > 0 && one.getBoundingClientRect().height < 43.9)
        wrong.push('small: ' + one.outerHTML.slice(0, 100));
    for (const { firstChild: text } of document.querySelectorAll('.amount')) {
      // Eighteen decimals do not fit beside their name on the narrowest phone.
      if (text?.nodeType !== Node.TEXT_NODE || (innerWidth < 400 && text.data.length > 20)) continue;
      const number = document.createRange();
      number.setStart(text, 0);
      number.setEnd(text, text.data.trimEnd().search(/ |$/));
      if (number.getClientRects().length > 1) wrong.push('a number in two lines: ' + text.data);
    }
    const headings = document.querySelectorAll('h1').length;
    if (headings !== 1) wrong.push(headings + ' headings of the first level');
    const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
    if (new Set(ids).size < ids.length) wrong.push('an id stands twice');
    if (/undefined|NaN|\\[object/.test(document.body.innerText)) wrong.push('a value that is not there');
    if ('hit' in window) wrong.push("ran a stranger's text");
    return wrong;
  })()`);
  return [...seen, ...(await barriers(page, name))].map((text) => `${name}: ${text}`);
}
