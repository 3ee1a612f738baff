import { progress } from './run.ts';

const SAY_EVERY_MS = 2_000;

/**
 * A listener that tells people every two seconds how much of something
 * long is done, how fast it goes and how long the rest takes.
 */
export function rateReporter(
  what: string,
  units: string,
): (done: number, total: number, more?: string) => void {
  const begin = performance.now();
  let said = begin;
  return (done, total, more = '') => {
    const now = performance.now();
    if (now - said < SAY_EVERY_MS) return;
    said = now;
    progress(`${what}: ${done} of ${total}${paceText({ done, total, ms: now - begin, units })}${more}`);
  };
}

/** How fast it goes and how long the rest takes; nothing before there is a pace. */
export function paceText(so: { done: number; total: number; ms: number; units: string }): string {
  const rate = so.done / (so.ms / 1_000);
  if (rate === 0) return '';
  const left = leftText((so.total - so.done) / rate);
  return `, ${rate < 10 ? rate.toPrecision(2) : rate.toFixed(0)} ${so.units}/s, ${left} left`;
}

function leftText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
