/**
 * How a language writes what is counted. US dollars with two decimals; times in UTC, which hold wherever the
 * reader is.
 */
export function createFormat(locale: string) {
  const figure = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const time = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' });
  return {
    money: (value: number): string => figure.format(value),
    /** A time of the API: "20 Nov 2026, 11:00 UTC". */
    dateTime: (iso: string): string => `${time.format(new Date(iso))} UTC`,
    /** The same within a day: "11:00 UTC". */
    clock: (iso: string): string => `${clock.format(new Date(iso))} UTC`,
    count: (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`,
  };
}
