import { AsyncResource } from 'node:async_hooks';
import { Socket } from 'node:net';
import { limitStatements, type QueryClient, type StatementLimit, timeIsUp } from './limited-statements.ts';
import { READ_ONLY } from './session.ts';
import { currentLimit, type TimeLimit } from './time-limit.ts';

/** SQL's own code for a connection that failed. */
const NO_CONNECTION = '08006';

/**
 * Without this limit a query on a connection whose other end vanished (a fail-over, a
 * firewall that forgot it) would wait for ever.
 */
export function socketThatEndsWhenSilent(limitMs: number): Socket {
  const socket = new Socket();
  socket.setTimeout(limitMs, () =>
    socket.destroy(new Error(`PostgreSQL was silent for ${limitMs / 1_000} s`)),
  );
  return socket;
}

type Client = QueryClient & {
  /** Why no pool may keep it. */
  unfit?: Error;
  release(error?: Error): void;
  readonly connection: { on(event: 'errorMessage', heard: (said: { code?: string }) => void): unknown };
  on(event: 'error', heard: (error: Error) => void): unknown;
  once(event: 'end', heard: () => void): unknown;
  removeListener(event: 'end', heard: () => void): unknown;
};
type Connected = (error: Error | undefined, client: Client | undefined, release: Client['release']) => void;
/** The part of pg's pool that is used here. */
export type ClientPool = { connect(): Promise<Client>; connect(connected: Connected): void };

/** Gives the work of each party only some of the connections, in turn. */
export type Turns = {
  /**
   * Runs `work` when its party has a turn. Rejects without
   * having begun it when none comes within `maxWaitMs`.
   */
  run<T>(party: string, work: () => Promise<T>, maxWaitMs: number): Promise<T>;
};

/**
 * Makes the pool take a connection back the moment it ends, whoever holds it. The query builder gives one
 * back only after a BEGIN, COMMIT or ROLLBACK that worked, and on a dead connection none does: each outage
 * would cost the pool some places for ever, until none is left. It also puts the time limit of the work that
 * asks for a connection on each of its statements; `statementMs` is the limit with which connections are
 * opened. Where there are `turns`, work of a party waits for its turn first. A session that PostgreSQL opened
 * for reading only stays that, whatever is changed since, so one that refused a write is not used again.
 */
export function connectionsOf(
  pool: ClientPool,
  input: { readonly statementMs: number; readonly turns?: Turns | undefined },
): void {
  const { statementMs, turns } = input;
  const connect = pool.connect.bind(pool) as (connected: Connected) => void;
  const limited = new WeakMap<Client, StatementLimit>();
  const statementsOf = (client: Client): StatementLimit => {
    const known = limited.get(client);
    if (known) return known;
    client.on('error', withCode);
    client.connection.on('errorMessage', ({ code }) => {
      if (code === READ_ONLY) client.unfit = new Error('the session may only read');
    });
    const made = limitStatements(client, statementMs);
    limited.set(client, made);
    return made;
  };
  const open = (limit: TimeLimit | undefined, connected: Connected, over: () => void): void => {
    connect((error, client, release) => {
      if (!client) {
        over();
        return connected(error && withCode(error), client, release);
      }
      if (limit && limit.leftMs() <= 0) {
        over();
        release();
        return connected(timeIsUp(), undefined, () => undefined);
      }
      const unhold = statementsOf(client).hold(limit);
      client.release = releaseOnce(client, release, () => {
        unhold();
        over();
      });
      connected(error, client, client.release);
    });
  };
  const guarded = (asked: Connected): void => {
    const limit = currentLimit();
    // A caller that waits for a place is called back by the one that leaves it, so it keeps its own context.
    const connected = AsyncResource.bind(asked);
    if (!turns || limit?.party === undefined) {
      open(limit, connected, () => undefined);
      return;
    }
    const refuse = (): void => connected(timeIsUp(), undefined, () => undefined);
    const use = (over: () => void): void => {
      if (limit.leftMs() > 0) open(limit, connected, over);
      else {
        over();
        refuse();
      }
    };
    turns.run(limit.party, () => new Promise<void>(use), limit.leftMs()).catch(refuse);
  };
  pool.connect = ((connected?: Connected) => {
    // The pool's own query() uses the form with a callback.
    if (connected) return guarded(connected);
    return new Promise<Client>((resolve, reject) => {
      guarded((error, client) => (client ? resolve(client) : reject(error)));
    });
  }) as ClientPool['connect'];
}

/** A connection that is not had or is lost, by SQL's code for it where pg gives none. */
function withCode(error: Error & { code?: string }): Error {
  error.code ??= NO_CONNECTION;
  return error;
}

/**
 * Gives the connection back when its holder does or when it
 * ends, whichever comes first; what comes second does nothing.
 */
function releaseOnce(client: Client, release: Client['release'], released: () => void): Client['release'] {
  let held = true;
  const giveBack = (error?: Error): void => {
    if (!held) return;
    held = false;
    client.removeListener('end', died);
    released();
    release(error ?? client.unfit);
  };
  const died = (): void => giveBack(new Error('the connection ended'));
  client.once('end', died);
  return giveBack;
}
