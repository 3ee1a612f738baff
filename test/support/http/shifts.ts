import type { Page } from 'playwright-core';

/** From now on it is noted what moves by itself: not what moves because the reader just did something. */
export async function watchShifts(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    window.shifts = [];
    window.shiftWatch = new PerformanceObserver((list) => window.note(list.getEntries()));
    window.note = (entries) => {
      for (const { value, hadRecentInput, sources } of entries)
        if (!hadRecentInput)
          window.shifts.push(value + ': ' + sources.map(({ node, previousRect, currentRect }) =>
            (node?.outerHTML ?? node?.data ?? '').slice(0, 120) + ' from ' + Math.round(previousRect.y) + ' to ' + Math.round(currentRect.y)).join(' | '));
    };
    window.shiftWatch.observe({ type: 'layout-shift', buffered: false });
  })()`);
}

/** What moved since then, each with how far, once everything that came is laid out. */
export async function shiftsOf(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`new Promise((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
      window.note(window.shiftWatch.takeRecords());
      resolve(window.shifts);
    }, 200))))`);
}
