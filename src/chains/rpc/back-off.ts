// How long an endpoint is left alone after it failed.
import type { EndpointFailure } from './errors.ts';

const FIRST_MS = 250;
const THROTTLED_FIRST_MS = 1_000;
/**
 * The longest pause, however long the trouble lasted: its end is noticed within this time, and
 * one question in this time is no burden to anybody.
 */
const MAX_MS = 5_000;
/**
 * An endpoint may ask to be left alone for a day (its quota is used up);
 * it is asked once a minute all the same.
 */
const MAX_WISH_MS = 60_000;

/**
 * The pause after the `failures`-th failure in a row, in milliseconds: doubling up to `longestMs` (5 s), with
 * jitter, and never shorter than the pause the endpoint asked for, up to a minute.
 */
export function backOffMs(
  failure: EndpointFailure,
  failures: number,
  random: () => number,
  longestMs = MAX_MS,
): number {
  const first = failure.throttled ? THROTTLED_FIRST_MS : FIRST_MS;
  const grown = Math.min(first * 2 ** (failures - 1), longestMs);
  return Math.max(grown * (0.5 + 0.5 * random()), Math.min(failure.retryAfterMs ?? 0, MAX_WISH_MS));
}
