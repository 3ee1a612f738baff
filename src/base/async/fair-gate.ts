/**
 * Lets a bounded number of calls through at a time; those that wait are
 * called in turn by key, so that one key's rush delays only itself.
 */
export type FairGate = {
  /**
   * Runs `work` when its key has its turn. Throws {@link GateFull} without having begun it when the
   * turn does not come within `maxWaitMs`, or when too many wait already; else what `work` throws.
   */
  run<T>(key: string, work: () => Promise<T>, maxWaitMs?: number): Promise<T>;
};

/** Thrown for work that was not begun. */
export class GateFull extends Error {
  override readonly name = 'GateFull';
  /**
   * Whether calls of its own key held places at that moment: it then waited for its
   * own calls, and not for those of others alone.
   */
  readonly behindOwn: boolean;

  constructor(message: string, { behindOwn }: { readonly behindOwn: boolean }) {
    super(message);
    this.behindOwn = behindOwn;
  }
}

const MAX_WAITING = 10_000;

export type FairGateOptions = {
  /** How many calls run at a time. */
  readonly places: number;
  /** How many of them may belong to one key; unset means all of them. */
  readonly placesOfKey?: number;
  readonly maxWaiting?: number;
  /**
   * For how long a place stays empty after a call that took `tookMs`, while `waiting` others of its key wait:
   * the time that a call takes tells how busy the server behind it is. The call itself is answered at once.
   */
  readonly restMs?: (tookMs: number, waiting: number) => number;
};

/** A gate of one process. */
export function createFairGate(options: FairGateOptions): FairGate {
  const { places, placesOfKey = places, maxWaiting = MAX_WAITING, restMs } = options;
  const taken = createPlaces(places);
  const lanes = createLanes();

  const next = (): void => {
    while (taken.free() > 0) {
      const turn = lanes.next((key) => taken.of(key) < placesOfKey);
      if (!turn) return;
      taken.take(turn.key);
      turn.enter();
    }
  };
  const leave = (key: string, tookMs: number): void => {
    const over = (): void => {
      taken.giveBack(key);
      next();
    };
    const ms = restMs?.(tookMs, lanes.lineOf(key)) ?? 0;
    // A place that stays empty for a while keeps no process alive.
    if (ms > 0) setTimeout(over, ms).unref();
    else over();
  };
  const full = (key: string, message: string): GateFull =>
    new GateFull(message, { behindOwn: taken.of(key) > 0 });

  return {
    run: async (key, work, maxWaitMs) => {
      if (taken.free() > 0 && taken.of(key) < placesOfKey && lanes.lineOf(key) === 0) taken.take(key);
      else if (lanes.waiting() >= maxWaiting) throw full(key, `${lanes.waiting()} calls wait already`);
      else if (!(await lanes.wait(key, maxWaitMs))) throw full(key, `no turn within ${maxWaitMs} ms`);
      const began = performance.now();
      try {
        return await work();
      } finally {
        leave(key, performance.now() - began);
      }
    },
  };
}

/** How many places are taken, and by which keys. A place that stays empty for a while counts as taken. */
function createPlaces(places: number) {
  const running = new Map<string, number>();
  let free = places;
  const of = (key: string): number => running.get(key) ?? 0;
  return {
    of,
    free: (): number => free,
    take: (key: string): void => {
      free -= 1;
      running.set(key, of(key) + 1);
    },
    giveBack: (key: string): void => {
      free += 1;
      if (of(key) > 1) running.set(key, of(key) - 1);
      else running.delete(key);
    },
  };
}

type Waiter = { readonly enter: () => void };

/** The waiting calls, by key. */
function createLanes() {
  /**
   * Keys in the order of their turns: a Map keeps it, and a key that had its
   * turn goes to the end. No lane is empty.
   */
  const lanes = new Map<string, Waiter[]>();
  let waiting = 0;
  const leaveLane = (key: string, lane: Waiter[], waiter: Waiter): boolean => {
    const place = lane.indexOf(waiter);
    if (place < 0) return false;
    lane.splice(place, 1);
    if (lane.length === 0) lanes.delete(key);
    waiting -= 1;
    return true;
  };
  return {
    waiting: (): number => waiting,
    lineOf: (key: string): number => lanes.get(key)?.length ?? 0,
    /** Takes the first call of the first key that may enter out of its lane. */
    next: (mayEnter: (key: string) => boolean): (Waiter & { readonly key: string }) | undefined => {
      for (const [key, lane] of lanes) {
        const [waiter] = lane;
        if (!waiter || !mayEnter(key)) continue;
        leaveLane(key, lane, waiter);
        if (lanes.delete(key)) lanes.set(key, lane);
        return { key, enter: waiter.enter };
      }
      return undefined;
    },
    /** Resolves with true at the turn, with false when it does not come within `maxWaitMs`. */
    wait: (key: string, maxWaitMs: number | undefined): Promise<boolean> =>
      new Promise((resolve) => {
        const lane = lanes.get(key) ?? [];
        lanes.set(key, lane);
        let timer: NodeJS.Timeout | undefined;
        const waiter: Waiter = {
          enter: () => {
            clearTimeout(timer);
            resolve(true);
          },
        };
        lane.push(waiter);
        waiting += 1;
        if (maxWaitMs === undefined) return;
        timer = setTimeout(() => {
          if (leaveLane(key, lane, waiter)) resolve(false);
        }, maxWaitMs);
      }),
  };
}
