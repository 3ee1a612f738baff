// How fast one endpoint may be asked: as fast as was configured, and
// slower only where it shows again and again that it allows less.

export type RateOptions = {
  /** Requests a second that are never exceeded for long. */
  readonly perSecond: number;
  /** Requests that may go out at once after a quiet time. */
  readonly burst: number;
  readonly now: () => number;
};

/** A token bucket that can learn a lower limit for a while. */
export interface Rate {
  /**
   * Takes this many turns (default 1) and returns how long to wait for the
   * last of them, in milliseconds (0 = now).
   */
  takeMs(turns?: number): number;
  /** Takes back turns (default 1) that were waited for and not used: who comes next waits less. */
  giveBack(turns?: number): void;
  /** How long a turn taken now would have to wait, in milliseconds; takes none. */
  waitMs(): number;
  /** Notes that the endpoint answered this many requests (default 1), whatever it said. */
  answered(requests?: number): void;
  /**
   * Notes that the endpoint refused because of the number of requests. Refusals of
   * requests that were under way together count once.
   */
  refused(): void;
  /** Requests a second at this moment. */
  perSecond(): number;
}

/** A limit met in normal work. `holdMs` is how long it is kept each time. */
type Learned = { readonly perSecond: number; readonly until: number; readonly holdMs: number };

const SLOWEST = 1;
/**
 * Refusals within this time are one: they answer requests that were sent before the first of them was heard.
 */
const ONE_REFUSAL_MS = 1_000;
/** Two refusals within this time mean the same limit. */
const AGAIN_MS = 10_000;
const FIRST_HOLD_MS = 5_000;
const LONGEST_HOLD_MS = 60_000;
const UNDER_MEASURED = 0.95;
const UNDER_LEARNED = 0.8;

/**
 * Makes a bucket for one endpoint. A refusal alone changes nothing here: the pool leaves a refusing endpoint
 * alone for a moment, and an endpoint that refuses everything is in trouble and shows no limit. An endpoint
 * with a limit answers until the limit is met: so a refusal after answers, twice within ten seconds, teaches
 * it. The limit is forgotten after five seconds; where it is then met again although nothing was refused
 * meanwhile, it is kept twice as long each time, at most a minute.
 */
export function createRate({ perSecond, burst, now }: RateOptions): Rate {
  let learned: Learned | undefined;
  let queued = false;
  let freeAt = now();
  let refusedAt = Number.NEGATIVE_INFINITY;
  let metAt = Number.NEGATIVE_INFINITY;
  let answers = { since: now(), count: 0, before: 0, sinceRefusal: 0 };

  const isLearned = (): boolean => learned !== undefined && now() < learned.until;
  const rate = (): number => (learned && isLearned() ? learned.perSecond : perSecond);

  const learn = (limit: number, holdMs: number): void => {
    learned = { perSecond: Math.min(perSecond, Math.max(SLOWEST, limit)), until: now() + holdMs, holdMs };
  };

  /** Turns that were spread over a limit must not delay callers that come after it was forgotten. */
  const letGo = (): void => {
    if (queued && !isLearned()) freeAt = Math.min(freeAt, now());
    queued = isLearned();
  };

  /** The number of answers in the last whole second or in the running one, whichever is higher. */
  const measured = (): number => {
    const passedMs = now() - answers.since;
    if (passedMs >= 2_000) return 0;
    return passedMs >= 1_000 ? answers.count : Math.max(answers.count, answers.before);
  };

  return {
    takeMs(turns = 1) {
      letGo();
      const interval = 1_000 / rate();
      // What the endpoint counts as a burst is unknown, so no burst is allowed while it shows a limit.
      const allowance = isLearned() ? 1 : burst;
      freeAt = Math.max(freeAt, now() - (allowance - 1) * interval) + turns * interval;
      return Math.max(0, freeAt - interval - now());
    },
    giveBack(turns = 1) {
      // Never more than they took, whatever limit was learned or forgotten meanwhile.
      freeAt -= (turns * 1_000) / perSecond;
    },
    waitMs() {
      letGo();
      return Math.max(0, freeAt - now());
    },
    answered(requests = 1) {
      const passedMs = now() - answers.since;
      if (passedMs >= 1_000)
        answers = { ...answers, since: now(), count: 0, before: passedMs < 2_000 ? answers.count : 0 };
      answers.count += requests;
      answers.sinceRefusal += requests;
    },
    refused() {
      if (now() - refusedAt < ONE_REFUSAL_MS) return;
      refusedAt = now();
      const lets = answers.sinceRefusal > 0;
      answers.sinceRefusal = 0;
      if (!lets) return;
      const before = metAt;
      metAt = now();
      if (learned && isLearned())
        learn(UNDER_LEARNED * Math.min(learned.perSecond, measured()), FIRST_HOLD_MS);
      else if (learned && now() - learned.until < AGAIN_MS)
        learn(UNDER_MEASURED * measured(), Math.min(2 * learned.holdMs, LONGEST_HOLD_MS));
      else if (now() - before < AGAIN_MS) learn(UNDER_MEASURED * measured(), FIRST_HOLD_MS);
    },
    perSecond: rate,
  };
}
