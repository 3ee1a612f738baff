import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { sharedBrowser } from '../../../dev/support/browser.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import type { PublicPaymentView } from '../../../src/contract/payment-link.ts';
import { scriptOf } from '../../../src/web/assets/assets.ts';
import { isLive } from '../../../src/web/checkout/followed.ts';
import { html } from '../../../src/web/html.ts';
import type { PayerPages } from '../../../src/web/visitor.ts';
import { openPage, readText, type WatchedPage } from '../../support/http/browser.ts';
import { startGate } from '../../support/http/gate.ts';
import { startShop } from '../../support/payment-shop.ts';

/** A page with one of everything that a script could disturb. */
const rendered = (view: PublicPaymentView) => html`<h1>Pay</h1>
${view.transactions.length > 0 ? html`<p class="notice warn" id="seen">Money has arrived.</p>` : null}
<div class="notice" data-status="${view.status}" data-say="It is ${view.status}"><strong>${view.status}</strong></div>
<p><time datetime="${view.expires_at}" data-until="${view.expires_at}">60:00</time> left</p>
<p>Until <time datetime="${view.expires_at}" data-local>2026-11-20 10:00 UTC</time></p>
<p><span class="mono" id="address">0x12<wbr><span>34</span><span>56</span></span>
<button type="button" data-copy="address" data-copied="Copied">Copy</button></p>
<details><summary>More</summary><p>about it</p></details>
<p><label for="note">Note</label><input id="note" value=""></p>
<p id="text">A text that is selected by those who read it.</p>
<ul>${view.transactions.map((row) => html`<li data-part="row">${row.amount}: ${row.confirmations}</li>`)}</ul>
${isLive(view) ? html`<p id="way"><a href="?again">Again</a></p>` : null}
<p id="last">The end</p>`;

const pages: PayerPages = {
  render: (view) => ({
    title: `It is ${view.status}`,
    body: rendered(view),
    scripts: [scriptOf('page'), ...(isLive(view) ? [scriptOf('live')] : [])],
    connects: isLive(view),
    refreshSeconds: 4,
    // As on every page that counts down, its digits move nothing.
    style: '[data-until]{display:inline-block;width:6em}',
  }),
  unknown: () => ({ title: 'unknown', body: html`unknown` }),
  tooOften: () => ({ status: 429, title: 'often', body: html`often` }),
  unavailable: () => ({ status: 503, title: 'away', body: html`away` }),
};

/**
 * A shop whose payers see that page, through a door that can be closed, in a real browser. `visit` opens
 * the page of a link; with a `clock` that stands still there but for what a test lets pass. `prepare` is done
 * with the tab before. `followed` waits until its script has had the first rendering.
 */
export async function startFollowedPages() {
  const [shop, browser, gate] = await Promise.all([
    startShop({ pay: { pages, times: { lookEveryMs: 100 } } }),
    sharedBrowser(),
    startGate(),
  ]);
  gate.target(shop.api.origin);
  type Link = Awaited<ReturnType<typeof shop.link>>;
  const visit = async (
    link: Link,
    options: BrowserContextOptions & { readonly clock?: Date } = {},
    prepare?: (page: Page) => Promise<unknown>,
  ): Promise<WatchedPage> => {
    const { clock, ...rest } = options;
    const watched = await openPage(browser, gate.url, rest);
    if (clock) {
      await watched.page.clock.install({ time: clock });
      await watched.page.clock.pauseAt(new Date(clock.getTime() + 1_000));
    }
    await prepare?.(watched.page);
    await watched.page.goto(`${gate.url}/pay/${link.token}`);
    return watched;
  };
  const opened = ({ requests }: WatchedPage, what: RegExp) =>
    requests.filter((path) => what.test(path)).length;
  return {
    shop,
    gate,
    visit,
    /** How many requests of a page have such a path. */
    opened,
    make: async () => await shop.link({ customerId: await shop.customer(), usd: '40' }),
    pay: (link: Link, coins = '1') => shop.pay(link.customer_id, { coins, state: 'detected' }),
    /** Closes the tab; nothing was complained of but what is named. */
    close: async ({ context, complaints }: WatchedPage, but = /^$/) => {
      await context.close();
      expect(complaints.filter((one) => !but.test(one))).to.deep.equal([]);
    },
    shows: async (page: Page, status: string) =>
      await page.locator(`[data-status="${status}"]`).waitFor({ timeout: 45_000 }),
    followed: async (watched: WatchedPage) => {
      // The countdown begins with the first rendering.
      const counts = async () => (await readText(watched.page.locator('[data-until]'))) !== '60:00';
      await eventually('the first rendering', counts);
    },
    stop: async () => {
      for (const context of browser.contexts()) await context.close();
      await gate.close();
      await shop.stop();
    },
  };
}

export type FollowedPages = Awaited<ReturnType<typeof startFollowedPages>>;
