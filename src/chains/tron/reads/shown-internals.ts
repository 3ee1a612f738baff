// Which endpoints save internal transactions: a node that does not says so nowhere.

/** One that was shown proves it for this long: nobody changes that setting without a restart. */
const PROVES_MS = 60 * 60_000;
/** After a question to all others that showed none they are left alone: each costs a request of the day. */
const VAIN_MS = 60_000;

export interface ShownInternals {
  /** Notes that an endpoint, by its place in the list, showed an internal transaction. */
  note(endpoint: number): void;
  /** Whether it showed one within the hour. */
  has(endpoint: number): boolean;
  /** Notes that no other endpoint showed one of a block of which one showed none. */
  noteVain(): void;
  /** Whether it may be that another one shows what an endpoint does not: not for a minute after that. */
  mayBeElsewhere(): boolean;
}

/** Remembers it for one process. */
export function createShownInternals(now: () => number): ShownInternals {
  const shownAt = new Map<number, number>();
  let vainUntil = Number.NEGATIVE_INFINITY;
  return {
    note: (endpoint) => void shownAt.set(endpoint, now()),
    has: (endpoint) => now() - (shownAt.get(endpoint) ?? Number.NEGATIVE_INFINITY) < PROVES_MS,
    noteVain: () => {
      vainUntil = now() + VAIN_MS;
    },
    mayBeElsewhere: () => now() >= vainUntil,
  };
}
