import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';

/** A page that records everything that a good page never does. */
export type WatchedPage = {
  readonly page: Page;
  readonly context: BrowserContext;
  /**
   * Console errors, violations of the content security policy,
   * script errors, dialogs, and requests to anybody else.
   */
  readonly complaints: readonly string[];
  /** Our own paths that were requested, in order. */
  readonly requests: readonly string[];
};

/** A new page in a context of its own that may talk to `origin` alone. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
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

/** The text as a person reads it: as it is laid out, without what is hidden. */
export async function readText(place: Locator): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: what is seen is what is meant
  return await place.innerText();
}

/**
 * A drawing of the page, the first where none is named, as squares, row by row: 1 for a dark one. Read
 * from its pixels, however they were made.
 */
export async function readSquares(page: Page, side: number, place = 'svg'): Promise<number[]> {
  return await page.evaluate<number[]>(`(async () => {
    const [side, scale] = [${side}, 4];
    const svg = document.querySelector(${JSON.stringify(place)}).cloneNode(true);
    svg.setAttribute('width', side * scale);
    svg.setAttribute('height', side * scale);
    const image = new Image();
    image.src = 'data:image/svg+xml,' + encodeURIComponent(new XMLSerializer().serializeToString(svg));
    await image.decode();
    const context = Object.assign(document.createElement('canvas'), { width: side * scale, height: side * scale }).getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, side * scale, side * scale);
    const red = (x, y) => data[(y * side * scale + x) * 4];
    return Array.from({ length: side * side }, (_, index) =>
      red((index % side) * scale + 2, Math.floor(index / side) * scale + 2) < 128 ? 1 : 0);
  })()`);
}

/** By how many pixels the page is wider than its window. */
export async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}

/** Texts whose contrast with what lies behind them is less than `least` to 1, as WCAG computes it. */
export async function faintTexts(page: Page, least: number): Promise<{ text: string; ratio: number }[]> {
  return await page.evaluate<{ text: string; ratio: number }[]>(`(() => {
    const parse = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = parse(getComputedStyle(at).backgroundColor);
        if (color.length === 3 || color[3] === 1) return color;
      }
      return [255, 255, 255];
    };
    const found = [];
    for (const element of document.querySelectorAll('body *')) {
      const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join('');
      if (text === '') continue;
      const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < ${least}) found.push({ text, ratio });
    }
    return found;
  })()`);
}
