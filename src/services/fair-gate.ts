/** Lets a bounded number of calls through at a time; those that wait are called in turn by key, so that one key's rush delays only itself. */
export type FairGate = {
  /**
   * Runs `work` when its key has its turn. Throws {@link GateFull} without having begun it when the turn does not come within `maxWaitMs`,
   * or when too many wait already; else what `work` throws.
   */
  run<T>(key: string, work: () => Promise<T>, maxWaitMs?: number): Promise<T>;
};

/** The work was not begun. */
export class GateFull extends Error {
  override readonly name = 'GateFull';
}

type Waiter = { readonly enter: () => void };

const MAX_WAITING = 10_000;

export type FairGateOptions = {
  /** How many calls run at a time. */
  readonly places: number;
  /** How many of them may be of one key; as many as there are where absent. */
  readonly placesOfKey?: number;
  /** How many of one key's calls run at a time while others of it wait; as many as may be of one key where absent. */
  readonly placesOfLine?: number;
  readonly maxWaiting?: number;
  /**
   * For how long a place stays empty after a call that took `tookMs`, while `waiting` others of its key wait: what a call takes tells how
   * busy the server behind it is. The call itself is answered at once.
   */
  readonly restMs?: (tookMs: number, waiting: number) => number;
};

/** A gate of one process. */
export function createFairGate(options: FairGateOptions): FairGate {
  const { places, placesOfKey = places, placesOfLine = placesOfKey, maxWaiting = MAX_WAITING, restMs } = options;
  /** Keys in the order of their turns: a Map keeps it, and a key that had its turn goes to the end. */
  const lanes = new Map<string, Waiter[]>();
  const running = new Map<string, number>();
  let free = places;
  let waiting = 0;

  const lineOf = (key: string): number => lanes.get(key)?.length ?? 0;
  const runningOf = (key: string): number => running.get(key) ?? 0;
  const take = (key: string): void => {
    free -= 1;
    running.set(key, runningOf(key) + 1);
  };
  const giveBack = (key: string): void => {
    free += 1;
    if (runningOf(key) > 1) running.set(key, runningOf(key) - 1);
    else running.delete(key);
  };
  const leave = (key: string, tookMs: number): void => {
    const over = (): void => {
      giveBack(key);
      next();
    };
    const ms = restMs?.(tookMs, lineOf(key)) ?? 0;
    // A place that rests keeps no process alive.
    if (ms > 0) setTimeout(over, ms).unref();
    else over();
  };
  const nextWaiter = (): Waiter | undefined => {
    for (const [key, lane] of lanes) {
      if (lane.length > 0 && runningOf(key) >= placesOfLine) continue;
      const waiter = lane.shift();
      lanes.delete(key);
      if (lane.length > 0) lanes.set(key, lane);
      if (!waiter) continue;
      waiting -= 1;
      take(key);
      return waiter;
    }
    return undefined;
  };
  const next = (): void => {
    while (free > 0) {
      const waiter = nextWaiter();
      if (!waiter) return;
      waiter.enter();
    }
  };

  const wait = (key: string, maxWaitMs: number | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const lane = lanes.get(key) ?? [];
      lanes.set(key, lane);
      let timer: NodeJS.Timeout | undefined;
      const waiter: Waiter = {
        enter: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      if (maxWaitMs !== undefined) {
        timer = setTimeout(() => {
          const place = lane.indexOf(waiter);
          if (place < 0) return;
          lane.splice(place, 1);
          waiting -= 1;
          reject(new GateFull(`no turn within ${maxWaitMs} ms`));
        }, maxWaitMs);
      }
      lane.push(waiter);
      waiting += 1;
    });

  return {
    run: async (key, work, maxWaitMs) => {
      if (free > 0 && runningOf(key) < placesOfKey && lineOf(key) === 0) take(key);
      else if (waiting >= maxWaiting) throw new GateFull(`${waiting} calls wait already`);
      else await wait(key, maxWaitMs);
      const began = performance.now();
      try {
        return await work();
      } finally {
        leave(key, performance.now() - began);
      }
    },
  };
}
