/**
 * There is no place left in the line. `ofKey` is true where this caller alone holds too many
 * places, and false where everybody together does.
 */
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
  /** Places that only known callers may take: however many strangers come, these stay free. */
  readonly placesKept: number;
  /** Places that one key may hold, of a stranger and of a known caller. */
  readonly placesOfKey: number;
  readonly placesOfKnownKey: number;
  /** Longest wait for one's turn, in milliseconds. */
  readonly waitMs: number;
};

/** The caller that takes a place: places are counted by `key`, among known callers or among strangers. */
export type InLine = { readonly key: string; readonly known: boolean };

/** Runs work in the order in which it came; where both wait, known callers and strangers take turns. */
export type WaitingLine = <T>(who: InLine, work: () => Promise<T>) => Promise<T>;

/**
 * A line in front of work that is expensive. Throws {@link LineIsFull} at once where there is no place, and
 * after `waitMs` where the turn did not come; work that has begun is never ended.
 */
export function createWaitingLine(limits: LineLimits): WaitingLine {
  const waiting = { known: [] as (() => void)[], strange: [] as (() => void)[] };
  const held = new Map<string, number>();
  let places = 0;
  let strangers = 0;
  let running = 0;
  let knownIsNext = true;

  const turn = (queue: (() => void)[]): Promise<void> => {
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
        queue.splice(queue.indexOf(begin), 1);
        reject(new LineIsFull(false));
      }, limits.waitMs);
      queue.push(begin);
    });
  };
  // The turn is handed on, so that a caller who comes just now does not get in before those who wait.
  // Known callers and strangers take turns: neither does a crowd of strangers make an owner wait for all
  // of them, nor does a known caller keep strangers out.
  const endTurn = (): void => {
    const [first, second] = knownIsNext ? [waiting.known, waiting.strange] : [waiting.strange, waiting.known];
    knownIsNext = !knownIsNext;
    const next = first.shift() ?? second.shift();
    if (next) next();
    else running -= 1;
  };

  return async (who, work) => {
    const key = `${who.known ? 'known' : 'strange'}:${who.key}`;
    const mine = held.get(key) ?? 0;
    const isClosed = !who.known && strangers >= limits.places - limits.placesKept;
    if (isClosed || places >= limits.places) throw new LineIsFull(false);
    if (mine >= (who.known ? limits.placesOfKnownKey : limits.placesOfKey)) throw new LineIsFull(true);
    places += 1;
    if (!who.known) strangers += 1;
    held.set(key, mine + 1);
    try {
      await turn(who.known ? waiting.known : waiting.strange);
      try {
        return await work();
      } finally {
        endTurn();
      }
    } finally {
      places -= 1;
      if (!who.known) strangers -= 1;
      const left = (held.get(key) ?? 1) - 1;
      if (left === 0) held.delete(key);
      else held.set(key, left);
    }
  };
}
