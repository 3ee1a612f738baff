// How much may be asked of Tron. Its providers count the requests of a key, whichever endpoint they go to,
// so one budget holds for all endpoints of a process.
import { pause } from '../../base/async/pause.ts';
import { within } from '../../base/async/within.ts';
import type { AddRequests, RequestCount } from '../pace.ts';
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

/** Counted in memory, and by `sharedBy` together with every other process that uses the key. */
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
/** What is taken from the sum of all at a time is at most this part of a day, and a second's requests. */
const PORTIONS = 1_000;
/** A sum that takes longer is not waited for: the chain is not read without the database anyway. */
const SUM_WITHIN_MS = 1_000;

/**
 * Makes a budget. Requests are spread evenly, with no burst after a quiet time: a provider that counts more
 * than it allows in one second bans the key for up to half a minute.
 */
export function createBudget(options: BudgetOptions): Budget {
  const { perDay, perSecond, date = Date.now, now = () => performance.now() } = options;
  const use = countOfDays(date);
  const portion = Math.max(1, Math.floor(Math.min(perSecond, perDay / PORTIONS)));
  let add: AddRequests | undefined;
  const refuseIfSpent = (): void => {
    const { day, used, left } = use();
    if (left === 0 && used >= perDay) throw spent(perDay, day);
  };
  /** The count of today, with at least one request to send. */
  const withOne = async (): Promise<Count> => {
    for (;;) {
      refuseIfSpent();
      const count = use();
      // The day may end while the sum is asked for: what was taken of it is then no longer of use.
      if (count.left > 0) return count;
      await takePortion(count, { portion, perDay, add });
    }
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
    // The day may be another one by now.
    const count = await withOne();
    signal.throwIfAborted();
    freeAt = (waitMs > 0 ? Math.max(freeAt, now() - LATE_MS) : now()) + 1_000 / perSecond;
    count.left--;
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
    sharedBy: (sum) => {
      add = sum;
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

/**
 * `used`: all that are known to be taken, by any process. `left`: those of them that this one may still
 * send. `unsaid`: those of this one that are in no sum yet.
 */
type Count = { readonly day: number; used: number; left: number; unsaid: number };

/**
 * Takes so many from the sum of all; fewer, or none, where others have taken the rest. Where the sum is not
 * to be had, or there is none, they are taken from what is known.
 */
async function takePortion(
  count: Count,
  {
    portion,
    perDay,
    add,
  }: { readonly portion: number; readonly perDay: number; readonly add: AddRequests | undefined },
): Promise<void> {
  const wanted = Math.min(portion, perDay - count.used);
  const known = count.used + wanted;
  const used = wanted + count.unsaid;
  const nobody = (): undefined => undefined;
  const sum =
    add && (await within(SUM_WITHIN_MS, add({ day: nameOf(count.day), used }), nobody).catch(nobody));
  count.unsaid = add && sum === undefined ? used : 0;
  // It never lowers what is known: the sum may be of a database that was put back.
  const all = Math.max(known, sum ?? known);
  count.left += Math.max(0, wanted - Math.max(0, all - perDay));
  count.used = all;
}

/**
 * The count of the present day. A clock that is put back gives nothing back, and neither does one that then
 * goes on again: the day that it came from is remembered.
 */
function countOfDays(date: () => number): () => Count {
  let count: Count = { day: dayOf(date()), used: 0, left: 0, unsaid: 0 };
  let before = count;
  return () => {
    const day = dayOf(date());
    if (day !== count.day) {
      const known = before.day === day ? before.used : 0;
      const used = day < count.day ? Math.max(known, count.used) : known;
      before = count;
      count = { day, used, left: 0, unsaid: 0 };
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

/** What was taken and not sent yet is not used; of the last portion others may have taken a part. */
const dayUse = ({ day, used, left }: Count, limit: number): DayUse => ({
  day: nameOf(day),
  used: Math.min(limit, used - left),
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
    { network: 'tron', goesOnAt },
  );
}
