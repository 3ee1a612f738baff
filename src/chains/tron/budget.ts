// How much may be asked of Tron. Its providers count the requests of a key, whichever endpoint they go to,
// so one budget holds for all endpoints of a process.
import { pause } from '../../base/async/pause.ts';
import { BudgetSpent } from '../rpc/errors.ts';
import { createRate } from '../rpc/rate.ts';

export type BudgetOptions = {
  /** Requests in one day (UTC). */
  readonly perDay: number;
  readonly perSecond: number;
  /** The date in milliseconds since 1970: it says which day it is. */
  readonly date?: (() => number) | undefined;
  /** The clock in milliseconds and the wait that goes with it; unset means the process's own. */
  readonly now?: (() => number) | undefined;
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

/** What was asked on one day. `day` is written as 2026-01-31; at `endsAt` the count begins again. */
export type DayUse = {
  readonly day: string;
  readonly used: number;
  readonly limit: number;
  readonly endsAt: Date;
};

/** Counted in memory: a process that starts again counts from 0. */
export interface Budget {
  readonly perSecond: number;
  /**
   * Waits for a turn and counts one request. Throws BudgetSpent, without a wait, where the
   * day's requests are used up, and the signal's reason.
   */
  take(signal: AbortSignal): Promise<void>;
  today(): DayUse;
}

const DAY_MS = 86_400_000;

/**
 * Makes a budget that begins with nothing used. Requests are spread evenly, with no burst after a quiet
 * time: a provider that counts more than it allows in one second bans the key for up to half a minute.
 */
export function createBudget(options: BudgetOptions): Budget {
  const { perDay, perSecond, date = Date.now, now = () => performance.now() } = options;
  const rate = createRate({ perSecond, burst: 1, now });
  let counted = dayOf(date());
  let used = 0;

  /** A clock that is put back does not give anything back. */
  const turnPage = (): void => {
    const today = dayOf(date());
    if (today > counted) used = 0;
    counted = today;
  };
  const refuseIfSpent = (): void => {
    turnPage();
    if (used >= perDay) throw spent(perDay, counted);
  };

  return {
    perSecond,
    async take(signal) {
      signal.throwIfAborted();
      refuseIfSpent();
      const waitMs = rate.takeMs();
      if (waitMs > 0) await (options.pause ?? pause)(waitMs, signal);
      // Others took their turns meanwhile, or the day is another one.
      refuseIfSpent();
      used++;
    },
    today() {
      turnPage();
      return { day: nameOf(counted), used, limit: perDay, endsAt: startOf(counted + 1) };
    },
  };
}

const dayOf = (dateMs: number): number => Math.floor(dateMs / DAY_MS);
const startOf = (day: number): Date => new Date(day * DAY_MS);
const nameOf = (day: number): string => startOf(day).toISOString().slice(0, 10);

function spent(perDay: number, day: number): BudgetSpent {
  const goesOnAt = startOf(day + 1);
  const requests = perDay.toLocaleString('en-US');
  return new BudgetSpent(
    `tron: the ${requests} requests of ${nameOf(day)} are used up: it goes on at ${goesOnAt.toISOString()}; where the key allows more, raise TRON_REQUESTS_PER_DAY`,
    goesOnAt,
  );
}
