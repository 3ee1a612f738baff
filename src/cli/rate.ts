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
    const rate = done / ((now - begin) / 1_000);
    const pace = done === 0 ? '' : `, ${paceText(rate)} ${units}/s, ${leftText((total - done) / rate)} left`;
    progress(`${what}: ${done} of ${total}${pace}${more}`);
  };
}

const paceText = (rate: number): string => (rate < 10 ? rate.toPrecision(2) : rate.toFixed(0));

function leftText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
