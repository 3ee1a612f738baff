// How much may be asked of Tron. Its providers count the requests of a key, whichever endpoint they go to,
// so one budget holds for all endpoints of a process.
import { pause } from '../../base/async/pause.ts';
import type { RequestCount } from '../pace.ts';
import { BudgetSpent } from '../rpc/errors.ts';

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

/** Counted in memory, and by `share` together with every other process that uses the key. */
export interface Budget extends RequestCount {
  readonly perSecond: number;
  /**
   * Waits for a turn and counts one request; turns come in the order in which they were asked for. Throws
   * BudgetSpent, without a wait, where the day's requests are used up, and at once the signal's reason,
   * which leaves the turn to the next one.
   */
  take(signal: AbortSignal): Promise<void>;
  today(): DayUse;
  /** What {@link spareOf} says of now, where those that wait for their turn count as used. */
  spare(reservePerDay: number): number;
}

const DAY_MS = 86_400_000;
/** A wait ends a little late: this much is made up for, less than the network moves requests by. */
const LATE_MS = 10;

/**
 * Makes a budget. Requests are spread evenly, with no burst after a quiet time: a provider that counts more
 * than it allows in one second bans the key for up to half a minute.
 */
export function createBudget(options: BudgetOptions): Budget {
  const { perDay, perSecond, date = Date.now, now = () => performance.now() } = options;
  const use = countOfDays(date);
  const refuseIfSpent = (): void => {
    const { day, used } = use();
    if (used >= perDay) throw spent(perDay, day);
  };
  let line: Promise<void> = Promise.resolve();
  let waiting = 0;
  let freeAt = Number.NEGATIVE_INFINITY;

  const inTurn = async (before: Promise<void>, signal: AbortSignal): Promise<void> => {
    await before;
    signal.throwIfAborted();
    refuseIfSpent();
    const waitMs = freeAt - now();
    if (waitMs > 0) await (options.pause ?? pause)(waitMs, signal);
    // Others took their turns meanwhile, or the day is another one.
    refuseIfSpent();
    freeAt = (waitMs > 0 ? Math.max(freeAt, now() - LATE_MS) : now()) + 1_000 / perSecond;
    const count = use();
    count.used++;
    count.own++;
  };

  return {
    perSecond,
    async take(signal) {
      signal.throwIfAborted();
      refuseIfSpent();
      waiting++;
      const turn = inTurn(line, signal).finally(() => {
        waiting--;
      });
      line = turn.catch(() => undefined);
      await unlessAborted(turn, signal);
    },
    async share(add) {
      const count = use();
      const { own } = count;
      count.own = 0;
      try {
        const all = await add({ day: nameOf(count.day), used: own });
        // What was counted meanwhile is in nobody's sum yet. The sum never lowers the count: it may be an old
        // one.
        count.used = Math.max(count.used, all + count.own);
      } catch (error) {
        count.own += own;
        throw error;
      }
    },
    today: () => dayUse(use(), perDay),
    spare: (reservePerDay) => {
      const today = dayUse(use(), perDay);
      return spareOf({ ...today, used: today.used + waiting }, date(), reservePerDay);
    },
  };
}

/**
 * How many requests other work may send now, at the date `nowMs`, so that work which sends `reservePerDay` in
 * a day, evenly, has enough until the day ends.
 */
export function spareOf(
  { limit, used, endsAt }: Pick<DayUse, 'limit' | 'used' | 'endsAt'>,
  nowMs: number,
  reservePerDay: number,
): number {
  const restMs = Math.min(DAY_MS, Math.max(0, endsAt.getTime() - nowMs));
  return Math.max(0, limit - used - Math.ceil((reservePerDay * restMs) / DAY_MS));
}

/** `own`: those of this process that are in no sum yet. */
type Count = { readonly day: number; used: number; own: number };

/**
 * The count of the present day. A clock that is put back gives nothing back, and neither does one that then
 * goes on again: the day that it came from is remembered.
 */
function countOfDays(date: () => number): () => Count {
  let count: Count = { day: dayOf(date()), used: 0, own: 0 };
  let before = count;
  return () => {
    const day = dayOf(date());
    if (day !== count.day) {
      const known = before.day === day ? before.used : 0;
      const used = day < count.day ? Math.max(known, count.used) : known;
      before = count;
      count = { day, used, own: 0 };
    }
    return count;
  };
}

/** The outcome of the turn; the signal's reason where that comes first. */
async function unlessAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { signal: settled.signal });
  });
  try {
    await Promise.race([turn, aborted]);
  } finally {
    settled.abort();
  }
}

const dayUse = ({ day, used }: Count, limit: number): DayUse => ({
  day: nameOf(day),
  used,
  limit,
  endsAt: startOf(day + 1),
});
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
