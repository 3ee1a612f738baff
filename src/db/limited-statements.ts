import type { TimeLimit } from './time-limit.ts';

/**
 * The server is told a limit in steps: what a request has left when it begins differs
 * by a millisecond or two from the one before.
 */
const STEP_MS = 100;
/**
 * The statements that begin or end a transaction must reach the server: the query
 * builder gives a connection back only when they did.
 */
const ALWAYS_SENT = /^\s*(begin|start transaction|rollback)\b/i;

type Callback = (error: Error | undefined, result?: unknown) => void;
/** The part of pg's client that is used here. */
export type QueryClient = {
  query(...args: unknown[]): unknown;
  getTransactionStatus(): string | null;
  readonly connection: { readonly stream: { destroy(): void } };
};

/** The holder's time is up; the server's own code for a statement that its time limit ended. */
class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
  readonly code = '57014';
}

/** The error with which a statement would be refused. */
export function timeIsUp(): Error {
  return new TimeIsUp('nobody waits for the result of this statement any more');
}

/** Puts the limit of the work that holds a connection on its statements. */
export type StatementLimit = {
  /**
   * From now on the statements belong to work with this limit; undefined means that only the
   * connection's own limit holds. Returns what ends that.
   */
  hold(limit: TimeLimit | undefined): () => void;
};

/**
 * Makes the server end each statement when the time of the connection's holder is up. `ownMs` is the limit
 * with which the connection was opened, 0 for none. A changed limit goes out in one packet with its
 * statement, so it costs no round trip; it seldom changes, because most requests have nearly all of their
 * time left. When the holder's caller goes away, the connection is cut, which the server notices while it
 * works. A statement for which nobody waits any more is refused here.
 */
export function limitStatements(client: QueryClient, ownMs: number): StatementLimit {
  const query = client.query.bind(client);
  let limit: TimeLimit | undefined;
  /** What the server was told last; undefined when that may have been taken back with a transaction. */
  let toldMs: number | undefined = ownMs;
  let unsure = false;

  const tell = (): void => {
    const wantedMs = limit ? inSteps(limit.leftMs(), ownMs) : ownMs;
    if (toldMs !== undefined && fits(toldMs, wantedMs, limit !== undefined)) return;
    const status = client.getTransactionStatus();
    // In a failed transaction nothing but a rollback is possible.
    if (status === 'E') return;
    toldMs = wantedMs;
    // A transaction that is rolled back takes the setting back with it.
    unsure ||= status === 'T';
    query(`set statement_timeout = ${wantedMs}`, (error: Error | undefined) => {
      if (error) toldMs = undefined;
    });
  };

  client.query = (...args: unknown[]): unknown => {
    const text = textOf(args[0]);
    if (limit && limit.leftMs() <= 0 && !ALWAYS_SENT.test(text)) return refused(args);
    tell();
    if (unsure && /^\s*(commit|rollback)\b/i.test(text)) {
      unsure = false;
      toldMs = undefined;
    }
    return query(...args);
  };

  return {
    hold: (holders) => {
      limit = holders;
      const stop = holders?.onGone(() => client.connection.stream.destroy());
      return () => {
        limit = undefined;
        stop?.();
      };
    },
  };
}

/**
 * Rounded up, and never more than the connection's own limit; at least one step,
 * for statements that must always be sent.
 */
function inSteps(leftMs: number, ownMs: number): number {
  const ms = Math.max(1, Math.ceil(leftMs / STEP_MS)) * STEP_MS;
  return ownMs === 0 ? ms : Math.min(ms, ownMs);
}

/** Without a limit the connection's own must be set exactly; with one, a step more does not matter. */
function fits(toldMs: number, wantedMs: number, limited: boolean): boolean {
  if (!limited) return toldMs === wantedMs;
  return toldMs >= wantedMs && toldMs <= wantedMs + STEP_MS;
}

function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  return typeof query === 'object' && query !== null && 'text' in query && typeof query.text === 'string'
    ? query.text
    : '';
}

function refused(args: readonly unknown[]): unknown {
  const callback = args.find((arg): arg is Callback => typeof arg === 'function');
  if (!callback) return Promise.reject(timeIsUp());
  process.nextTick(callback, timeIsUp());
  return undefined;
}
