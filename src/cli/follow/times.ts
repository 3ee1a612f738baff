import { UsageError } from '../../base/errors.ts';

const DURATION = /^(0|[1-9]\d{0,6})([smhd])$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** The longest duration from or to now, and how it is written. */
export const MOST = '3650d';
export const MOST_MS = 3_650 * UNIT_MS.d;

// Every reader here throws a UsageError with a sentence for a value that is wrong.

/** Whether a text is written as a duration, however long. */
export function isDuration(given: string): boolean {
  return DURATION.test(given);
}

/** `30s`, `15m`, `24h`, `7d` in milliseconds; `0s` is allowed. At most `maxMs`, which `most` spells out. */
export function durationIn(given: string, maxMs: number, most: string): number {
  const match = DURATION.exec(given);
  const unit = match?.[2] as keyof typeof UNIT_MS | undefined;
  const value = match && unit ? Number.parseInt(match[1] ?? '', 10) * UNIT_MS[unit] : -1;
  if (value < 0 || value > maxMs)
    throw new UsageError(`It must be a duration such as 30s, 15m, 24h or 7d, at most ${most}.`);
  return value;
}

/** An ISO-8601 time with its zone, or a date (its beginning in UTC). */
export function timeIn(given: string): Date {
  const match = TIME.exec(given);
  const value = new Date(given);
  // V8 turns February 30 into March 2, so the day is compared.
  const [year = 0, month = 0, day = 0] = (match?.slice(1, 4) ?? []).map((part) => Number.parseInt(part, 10));
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (!match || Number.isNaN(value.getTime()) || day > lastDay)
    throw new UsageError('It must be an ISO-8601 time such as 2026-11-20T09:30:00Z, or a date.');
  return value;
}

/** A moment that has passed: a duration such as `15m` before now, or a {@link timeIn}. */
export function past(given: string): Date {
  const at = isDuration(given) ? new Date(Date.now() - durationIn(given, MOST_MS, MOST)) : timeIn(given);
  if (at.getTime() > Date.now()) throw new UsageError('It must lie in the past.');
  return at;
}
