/** A month in UTC as `2026-11`. */
export type Month = string;

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** Whether a text names a month. */
export function isMonth(text: string): boolean {
  return MONTH.test(text);
}

/** The month in which a time lies. */
export function monthOf(date: Date): Month {
  return date.toISOString().slice(0, 7);
}

/** The beginning of a month. */
export function startOf(month: Month): Date {
  return new Date(`${month}-01T00:00:00Z`);
}

/** The month that lies this many months after a month; before it where the number is negative. */
export function monthAfter(month: Month, count: number): Month {
  const date = startOf(month);
  date.setUTCMonth(date.getUTCMonth() + count);
  return monthOf(date);
}

/** How far the partitions are made ahead of the present month. */
export const MONTHS_AHEAD = 3;

/**
 * The months for which partitions are to be made, when the newest ones begin with `newest`; undefined when
 * there is nothing to do. The newest ones get their end at the same time. That end is never within the next
 * month, because rows for the present come in while it is done.
 */
export function monthsToMake(
  newest: Month,
  now: Date,
): { readonly first: Month; readonly last: Month } | undefined {
  const present = monthOf(now);
  const last = monthAfter(present, MONTHS_AHEAD);
  if (newest >= last) return undefined;
  const [next, earliest] = [monthAfter(newest, 1), monthAfter(present, 2)];
  // The text of months sorts as the months do.
  if (next > earliest) return { first: next, last };
  return { first: earliest, last };
}
