/**
 * What is left until a time, by the server's clock, as a clock shows it: "41:59", "3:07:00", never below
 * "0:00".
 */
export function countdown(until: string, now: string): string {
  const left = Math.max(0, Math.floor((Date.parse(until) - Date.parse(now)) / 1_000));
  const [hours, minutes, seconds] = [Math.floor(left / 3_600), Math.floor(left / 60) % 60, left % 60];
  const two = (n: number): string => `${n}`.padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** Until a block with the payment is read, and read a second time. */
const SEEING_MS = 10_000;
/** Blocks come late now and then; a payer is rather told of too long a time. */
const LATENESS = 1.25;
/** What still is "within a minute" with room to spare. */
const WITHIN_MS = 45_000;

/** The minutes after which a payment usually counts, rounded up; 0 for less than one. */
export function usualMinutes(confirmations: number, blockMs: number): number {
  const ms = confirmations * blockMs * LATENESS + SEEING_MS;
  return ms <= WITHIN_MS ? 0 : Math.ceil(ms / 60_000);
}
