// What the page of a payment link weighs, how soon it can be used on a slow machine, and how soon it shows
// money that was mined.
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../../dev/support/browser.ts';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { serve } from '../../dev/support/served.ts';
import { createPaymentLink } from '../../dev/support/use-cases.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';

const SAMPLES = Number.parseInt(process.env['BENCH_SAMPLES'] ?? '20', 10);
/** A phone of some years ago beside this machine. */
const SLOWER = 4;
const KB = 1_024;
const SCRIPT_KB = 6;
const GOALS = { plainKb: 60, gzipKb: 20, usableMs: 1_000, shift: 0, shownMs: 1_500 } as const;

type Stage = { readonly live: LiveMoney; readonly browser: Browser; readonly origin: string };

/** A link of its own for each sample: what one shows does not help the next. */
export async function run(): Promise<Row[]> {
  const [live, browser] = await Promise.all([startLiveMoney(), startBrowser()]);
  const served = await serve(live.gateway.deps);
  const stage = { live, browser, origin: served.origin };
  const rows = [...(await weigh(stage)), ...(await use(stage)), ...(await watch(stage))];
  await browser.close();
  await served.stop();
  await live.stop();
  await stopParts();
  return rows;
}

async function newLink({ live, origin }: Stage) {
  const customer = await live.newCustomer();
  const { link } = await createPaymentLink(live.gateway.deps, {
    merchantId: live.merchantId,
    mode: 'live',
    customerId: customer.id,
    amountCents: 2_500n,
    publicUrl: origin,
  });
  return { url: link.url, address: customer.address };
}

async function weigh(stage: Stage): Promise<Row[]> {
  const { url } = await newLink(stage);
  const document = await (await fetch(url)).text();
  const sources = [...document.matchAll(/<script src="([^"]+)"/g)].map(([, src = '']) => new URL(src, url));
  const scripts = await Promise.all(sources.map(async (source) => await (await fetch(source)).text()));
  const all = [document, ...scripts];
  const plain = all.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const packed = all.reduce((sum, text) => sum + gzipSync(text).length, 0);
  const longest = Math.max(...scripts.map((text) => Buffer.byteLength(text)));
  return [
    row('checkout, document and scripts', plain / KB, 'KB', GOALS.plainKb),
    row('the same, compressed', packed / KB, 'KB', GOALS.gzipKb),
    row('its longest script', longest / KB, 'KB', SCRIPT_KB),
  ];
}

async function use(stage: Stage): Promise<Row[]> {
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const { url } = await newLink(stage);
    const context = await stage.browser.newContext({ viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    const tools = await context.newCDPSession(page);
    await tools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    await page.goto(url, { waitUntil: 'load' });
    times.push(
      await page.evaluate<number>(
        `performance.getEntriesByType('navigation').map((one) => Math.max(one.loadEventEnd, one.domComplete))[0]`,
      ),
    );
    await context.close();
  }
  return [
    row(`usable with a processor ${SLOWER} times slower, p50`, percentile(times, 0.5), 'ms', undefined),
    row('the same, p95', percentile(times, 0.95), 'ms', GOALS.usableMs),
  ];
}

/** The moment at which the page shows it, by the page itself: a look from outside comes every half second. */
const SEEN_AT = `new Promise((resolve, reject) => {
  const seen = () => document.querySelector('[data-status="processing"]') && resolve(Date.now());
  new MutationObserver(seen).observe(document, { subtree: true, childList: true, attributes: true });
  setTimeout(() => reject(new Error('the page shows nothing')), 60_000);
  seen();
})`;

async function watch(stage: Stage): Promise<Row[]> {
  const { live, browser } = stage;
  const times: number[] = [];
  let shift = 0;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const { url, address } = await newLink(stage);
    const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    await page.goto(url);
    await page.evaluate(SHIFTS);
    await new Promise((resolve) => setTimeout(resolve, 1_500 + ((sample * 137) % 900)));
    await live.chain.usdt.call('transfer', [address, 10n * USDT_UNIT]);
    await live.chain.mine(1);
    const mined = Date.now();
    times.push((await page.evaluate<number>(SEEN_AT)) - mined);
    shift = Math.max(shift, await shiftOf(page));
    await context.close();
  }
  return [
    row('money mined until the page shows it, p50', percentile(times, 0.5), 'ms', undefined),
    row('the same, p95', percentile(times, 0.95), 'ms', GOALS.shownMs),
    {
      figure: 'the most that the layout shifts then, on a phone',
      value: shift.toFixed(3),
      goal: `${GOALS.shift}`,
      met: shift <= GOALS.shift,
    },
  ];
}

/** What moves without a click counts, as browsers count it. */
const SHIFTS = `window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: 'layout-shift' })`;

async function shiftOf(page: Page): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 300));
  return await page.evaluate<number>('window.shift');
}

function row(figure: string, value: number, unit: string, goal: number | undefined): Row {
  return {
    figure,
    value: `${value < 100 ? value.toFixed(1) : Math.round(value)} ${unit}`,
    goal: goal === undefined ? '' : `≤ ${goal} ${unit}`,
    met: goal === undefined || value <= goal,
  };
}
