// Which endpoints have no infos of a block that they have: a node may keep none at all, and asking it first
// costs several requests for every block.

/** One is asked after the others for this long. */
const LATE_FOR_MS = 60_000;

export interface LateInfos {
  /** Notes that an endpoint, by its place in the list, had a block and not its infos, however often asked. */
  note(endpoint: number): void;
  /** Whether that was so within the last minute. */
  has(endpoint: number): boolean;
}

/** Remembers it for one process. */
export function createLateInfos(now: () => number): LateInfos {
  const notedAt = new Map<number, number>();
  return {
    note: (endpoint) => void notedAt.set(endpoint, now()),
    has: (endpoint) => now() - (notedAt.get(endpoint) ?? Number.NEGATIVE_INFINITY) < LATE_FOR_MS,
  };
}
