// What the page of a payment link weighs, how soon it can be used on a slow machine, and how soon it shows
// money that was mined.
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../dev/support/browser.ts';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { serve } from '../../dev/support/served.ts';
import { createPaymentLink } from '../../dev/support/use-cases.ts';
import { atMost, numberOf, percentile, type Row, told } from '../bench.ts';

const SAMPLES = numberOf('BENCH_SAMPLES', 20);
/** A phone of some years ago beside this machine. */
const SLOWER = 4;
const PHONE = { viewport: { width: 360, height: 740 } };
const KB = 1_024;

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
  return rows;
}

const shown = (figure: string, is: number, most: number, unit: string): Row =>
  atMost(figure, `${is < 100 ? is.toFixed(1) : Math.round(is)} ${unit}`, [is, most], ` ${unit}`);

async function newLink({ live, origin }: Stage) {
  const { id, address } = await live.newCustomer();
  const scope = { merchantId: live.merchantId, mode: 'live' as const };
  const terms = { customerId: id, amountCents: 2_500n, publicUrl: origin };
  const { link } = await createPaymentLink(live.gateway.deps, { ...scope, ...terms });
  return { url: link.url, address };
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
    shown('checkout, document and scripts', plain / KB, 60, 'KB'),
    shown('the same, compressed', packed / KB, 20, 'KB'),
    shown('its longest script', longest / KB, 6, 'KB'),
  ];
}

async function use(stage: Stage): Promise<Row[]> {
  const loaded = `performance.getEntriesByType('navigation').map((one) => Math.max(one.loadEventEnd, one.domComplete))[0]`;
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const { url } = await newLink(stage);
    const context = await stage.browser.newContext(PHONE);
    const page = await context.newPage();
    const tools = await context.newCDPSession(page);
    await tools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    await page.goto(url, { waitUntil: 'load' });
    times.push(await page.evaluate<number>(loaded));
    await context.close();
  }
  const figure = `usable with a processor ${SLOWER} times slower, p50`;
  return [
    told(figure, `${Math.round(percentile(times, 0.5))} ms`),
    shown('the same, p95', percentile(times, 0.95), 1_000, 'ms'),
  ];
}

/** The moment at which the page shows it, by the page itself: a look from outside comes every half second. */
const SEEN_AT = `new Promise((resolve, reject) => {
  const seen = () => document.querySelector('[data-status="processing"]') && resolve(Date.now());
  new MutationObserver(seen).observe(document, { subtree: true, childList: true, attributes: true });
  setTimeout(() => reject(new Error('the page shows nothing')), 60_000);
  seen();
})`;

/** What moves without a click counts, as browsers count it. */
const SHIFTS = `window.shift = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: 'layout-shift' })`;

async function watch(stage: Stage): Promise<Row[]> {
  const { live, browser } = stage;
  const times: number[] = [];
  let shift = 0;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const { url, address } = await newLink(stage);
    const context = await browser.newContext(PHONE);
    const page = await context.newPage();
    await page.goto(url);
    await page.evaluate(SHIFTS);
    await sleep(1_500 + ((sample * 137) % 900));
    await live.chain.usdt.call('transfer', [address, 10n * USDT_UNIT]);
    await live.chain.mine(1);
    const mined = Date.now();
    times.push((await page.evaluate<number>(SEEN_AT)) - mined);
    await sleep(300);
    shift = Math.max(shift, await page.evaluate<number>('window.shift'));
    await context.close();
  }
  return [
    told('money mined until the page shows it, p50', `${Math.round(percentile(times, 0.5))} ms`),
    shown('the same, p95', percentile(times, 0.95), 1_500, 'ms'),
    atMost('the most that the layout shifts then, on a phone', shift.toFixed(3), [shift, 0]),
  ];
}
