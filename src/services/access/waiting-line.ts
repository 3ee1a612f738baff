/** There is no place left in the line. `ofKey`: it is this caller who holds too many places, not everybody together. */
export class LineIsFull extends Error {
  override readonly name = 'LineIsFull';
  readonly ofKey: boolean;

  constructor(ofKey: boolean) {
    super(ofKey ? 'this caller waits in the line too often' : 'the line is full');
    this.ofKey = ofKey;
  }
}

export type LineLimits = {
  /** Works that run at the same time. */
  readonly running: number;
  /** Places in the line, the running ones included. */
  readonly places: number;
  /** Places that one key may hold. */
  readonly placesOfKey: number;
  /** Longest wait for one's turn, in milliseconds. */
  readonly waitMs: number;
};

/** Runs work in the order in which it came. */
export type WaitingLine = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * A line in front of work that is expensive. Throws {@link LineIsFull} at once where there is no place, and after `waitMs` where the turn
 * did not come; what has begun is never ended.
 */
export function createWaitingLine(limits: LineLimits): WaitingLine {
  const waiting: (() => void)[] = [];
  const held = new Map<string, number>();
  let places = 0;
  let running = 0;

  const turn = (): Promise<void> => {
    if (running < limits.running) {
      running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(new LineIsFull(false));
      }, limits.waitMs);
      waiting.push(begin);
    });
  };
  // The turn is handed on, so that nobody who comes just now gets before those who wait.
  const endTurn = (): void => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };

  return async (key, work) => {
    const mine = held.get(key) ?? 0;
    if (places >= limits.places) throw new LineIsFull(false);
    if (mine >= limits.placesOfKey) throw new LineIsFull(true);
    places += 1;
    held.set(key, mine + 1);
    try {
      await turn();
      try {
        return await work();
      } finally {
        endTurn();
      }
    } finally {
      places -= 1;
      const left = (held.get(key) ?? 1) - 1;
      if (left === 0) held.delete(key);
      else held.set(key, left);
    }
  };
}
