// How long an endpoint is left alone after it failed.
import type { EndpointFailure } from './errors.ts';

const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 5_000;
const THROTTLED_FIRST_MS = 1_000;
const THROTTLED_MAX_MS = 30_000;

/** The pause after the `failures`-th failure in a row, in milliseconds: doubling, with jitter, longer where fewer requests were asked for, and never shorter than the endpoint's own wish within reason. */
export function backOffMs(failure: EndpointFailure, failures: number, random: () => number): number {
  const [first, most] = failure.throttled ? [THROTTLED_FIRST_MS, THROTTLED_MAX_MS] : [BACKOFF_FIRST_MS, BACKOFF_MAX_MS];
  const grown = Math.min(first * 2 ** (failures - 1), most);
  return Math.max(grown * (0.5 + 0.5 * random()), Math.min(failure.retryAfterMs ?? 0, THROTTLED_MAX_MS));
}
