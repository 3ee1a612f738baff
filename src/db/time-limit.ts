import { AsyncLocalStorage } from 'node:async_hooks';

/** Until when somebody waits for the result of some work. */
export type TimeLimit = {
  /** Whose work it is, where connections are shared out among those who ask. */
  readonly party?: string | undefined;
  /** Milliseconds that are left; 0 when nobody waits any more. */
  leftMs(): number;
  /**
   * Calls `heard` at once when whoever waited goes away before the time is up. Returns what stops listening.
   */
  onGone(heard: () => void): () => void;
};

/**
 * Follows the work through every call, because the query builder
 * hands nothing of its caller's to the pool of connections.
 */
const limits = new AsyncLocalStorage<TimeLimit | undefined>();

/** Runs `work`; no statement that it makes, and none of what it calls, goes on for longer than the limit. */
export function withinLimit<T>(limit: TimeLimit, work: () => T): T {
  return limits.run(limit, work);
}

/**
 * Runs work that others wait for too, or nobody: the limit
 * around it does not hold for it, only those of its connection.
 */
export function beyondLimit<T>(work: () => T): T {
  return limits.run(undefined, work);
}

/** The limit of the work that is going on; undefined where it has none. */
export function currentLimit(): TimeLimit | undefined {
  return limits.getStore();
}
