// How fast one endpoint may be asked. It starts generous, learns from refusals, and creeps back up.

export type RateOptions = {
  /** Requests a second that are never exceeded for long. */
  readonly perSecond: number;
  /** Requests that may go out at once after a quiet time. */
  readonly burst: number;
  readonly now: () => number;
};

/** A token bucket whose rate halves when the endpoint says that it is asked too often. */
export interface Rate {
  /** Takes a turn and returns how long to wait for it, in milliseconds (0 = now). */
  takeMs(): number;
  /** How long a turn taken now would have to wait, in milliseconds; takes none. */
  waitMs(): number;
  /** The endpoint refused because of the number of requests. Refusals of requests that were under way together count once. */
  refused(): void;
  /** Requests a second at this moment. */
  perSecond(): number;
}

const SLOWEST = 1;
/** Refusals within this time are one: they answer requests that were sent before the first of them was heard. */
const ONE_REFUSAL_MS = 1_000;
/** Back to just under the rate that was refused within seconds, beyond it only slowly: most limits are fixed numbers. */
const GROWTH_PER_S = 1.3;
const UNDER_REFUSED = 0.95;
/**
 * In what time the ceiling doubles. Slowly after a refusal, which is a limit met; fast where the endpoint was asked far below the rate it
 * had allowed: then it had a bad moment, or others share its limit. Each minute without a refusal halves it.
 */
const SLOW_DOUBLING_MS = 14 * 60_000;
const FAST_DOUBLING_MS = 5_000;
const CALM_MS = 60_000;
/** Less than this share of the allowed rate is far below it. */
const FAR_BELOW = 0.2;

/** Makes a bucket for one endpoint. */
export function createRate({ perSecond, burst, now }: RateOptions): Rate {
  let rate = perSecond;
  let ceiling = perSecond;
  let doublingMs = FAST_DOUBLING_MS;
  let allowance = burst;
  let adjustedAt = now();
  let refusedAt = Number.NEGATIVE_INFINITY;
  let freeAt = now();
  let second = { startedAt: now(), count: 0, before: 0 };

  function grow(): void {
    const passedMs = now() - adjustedAt;
    if (passedMs < 100) return;
    adjustedAt = now();
    const doubles = Math.max(FAST_DOUBLING_MS, doublingMs / 2 ** ((now() - refusedAt) / CALM_MS));
    ceiling = Math.min(perSecond, ceiling * 2 ** (passedMs / doubles));
    rate = Math.min(ceiling, rate * GROWTH_PER_S ** (passedMs / 1_000));
    if (ceiling === perSecond) allowance = burst;
  }

  function count(): void {
    const passedMs = now() - second.startedAt;
    if (passedMs >= 1_000) second = { startedAt: now(), count: 0, before: passedMs < 2_000 ? second.count : 0 };
    second.count++;
  }

  return {
    takeMs() {
      grow();
      count();
      const interval = 1_000 / rate;
      freeAt = Math.max(freeAt, now() - (allowance - 1) * interval) + interval;
      return Math.max(0, freeAt - interval - now());
    },
    waitMs() {
      grow();
      return Math.max(0, freeAt - now());
    },
    refused() {
      if (now() - refusedAt < ONE_REFUSAL_MS) return;
      grow();
      refusedAt = now();
      const measured = Math.max(second.count, second.before);
      doublingMs = measured < rate * FAR_BELOW ? FAST_DOUBLING_MS : SLOW_DOUBLING_MS;
      ceiling = Math.max(SLOWEST, Math.min(rate, measured) * UNDER_REFUSED);
      rate = Math.max(SLOWEST, ceiling / 2);
      // What the endpoint counts as a burst is unknown: no more of them until the limit is forgotten.
      allowance = 1;
    },
    perSecond() {
      grow();
      return rate;
    },
  };
}
