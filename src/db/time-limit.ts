import { AsyncLocalStorage } from 'node:async_hooks';

/** The time until which somebody waits for the result of some work. */
export type TimeLimit = {
  /** Whose work it is, where connections are shared out among those who ask. */
  readonly party?: string | undefined;
  /** The milliseconds that are left; 0 when nobody waits any more. */
  leftMs(): number;
  /** Calls `heard` at once when the caller goes away before the time is up. Returns what stops listening. */
  onGone(heard: () => void): () => void;
};

/**
 * Goes with the work through every call, because the query builder passes nothing
 * of its caller's to the pool of connections.
 */
const limits = new AsyncLocalStorage<TimeLimit | undefined>();

/** Runs `work`; no statement of it, or of what it calls, goes on for longer than the limit. */
export function withinLimit<T>(limit: TimeLimit, work: () => T): T {
  return limits.run(limit, work);
}

/**
 * Runs work for which others wait too, or nobody: the limit around it does not
 * hold for it, only those of its connection.
 */
export function beyondLimit<T>(work: () => T): T {
  return limits.run(undefined, work);
}

/** The limit of the work that runs now; undefined where it has none. */
export function currentLimit(): TimeLimit | undefined {
  return limits.getStore();
}
