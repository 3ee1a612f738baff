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

/** A gate of one process. `places` is how many calls run at a time. */
export function createFairGate({ places, maxWaiting = MAX_WAITING }: { places: number; maxWaiting?: number }): FairGate {
  /** Keys in the order of their turns: a Map keeps it, and a key that had its turn goes to the end. */
  const lanes = new Map<string, Waiter[]>();
  let free = places;
  let waiting = 0;

  const next = (): void => {
    for (const [key, lane] of lanes) {
      const waiter = lane.shift();
      lanes.delete(key);
      if (lane.length > 0) lanes.set(key, lane);
      if (!waiter) continue;
      waiting -= 1;
      waiter.enter();
      return;
    }
    free += 1;
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
      if (free > 0) free -= 1;
      else if (waiting >= maxWaiting) throw new GateFull(`${waiting} calls wait already`);
      else await wait(key, maxWaitMs);
      try {
        return await work();
      } finally {
        next();
      }
    },
  };
}
