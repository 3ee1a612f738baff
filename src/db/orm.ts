import { Socket } from 'node:net';
import { MikroORM } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, type EntityManager, type PostgreSqlDriver } from '@mikro-orm/postgresql';
import { MIGRATIONS } from '../../migrations/index.ts';
import { ENTITIES } from './entities/index.ts';

export type Orm = MikroORM<PostgreSqlDriver>;
export type Em = EntityManager;

/**
 * Longest wait for a connection, the queue for a free one included. Long enough that a burst of work waits its turn instead of failing;
 * the API has a deadline of its own, so nobody who calls it waits this long.
 */
const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** A server that lives answers or cancels within the statement timeout; what is silent for longer is a connection without a server. */
const SILENCE_BEYOND_STATEMENT_MS = 10_000;
/** Shorter than the silence, so that an idle connection is closed in good order. */
const IDLE_MS = 10_000;

/**
 * Opens a pool on the database. The first connection is made by the first query, so this never fails because the database is away.
 * Callers use `orm.em.fork()` for each request and each activity.
 */
export async function openOrm(input: {
  url: string;
  poolSize: number;
  applicationName: string;
  statementTimeoutMs?: number;
  /** After this long without a byte a connection is taken for dead; ten seconds more than a statement may take where not given. */
  silenceMs?: number;
}): Promise<Orm> {
  const statementTimeoutMs = input.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
  const silenceMs = input.silenceMs ?? statementTimeoutMs + SILENCE_BEYOND_STATEMENT_MS;
  return await MikroORM.init(
    defineConfig({
      clientUrl: input.url,
      entities: ENTITIES,
      extensions: [Migrator],
      discovery: { warnWhenNoEntities: false },
      // The default makes a database that is missing, so a typing error would become an empty gateway.
      ensureDatabase: false,
      migrations: {
        migrationsList: MIGRATIONS,
        tableName: 'schema_migrations',
        snapshot: false,
        transactional: true,
        allOrNothing: true,
        silent: true,
      },
      pool: { min: 0, max: input.poolSize, idleTimeoutMillis: IDLE_MS },
      driverOptions: {
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        statement_timeout: statementTimeoutMs,
        application_name: input.applicationName,
        keepAlive: true,
        stream: () => socketThatEndsWhenSilent(silenceMs),
        onPoolCreated: giveBackDeadConnections,
      },
      forceUtcTimezone: true,
      ignoreUndefinedInQuery: true,
    }),
  );
}

/** Without it a query on a connection whose other end vanished (a fail-over, a firewall that forgot it) would wait for ever. */
function socketThatEndsWhenSilent(limitMs: number): Socket {
  const socket = new Socket();
  socket.setTimeout(limitMs, () => socket.destroy(new Error(`PostgreSQL was silent for ${limitMs / 1_000} s`)));
  return socket;
}

type Client = {
  release(error?: Error): void;
  once(event: 'end', heard: () => void): unknown;
  removeListener(event: 'end', heard: () => void): unknown;
};
type Connected = (error: Error | undefined, client: Client | undefined, release: Client['release']) => void;
type ClientPool = { connect(): Promise<Client>; connect(connected: Connected): void };

/**
 * Makes the pool take back a connection the moment it ends, whoever holds it. The query builder gives one back only after a BEGIN, COMMIT
 * or ROLLBACK that worked, and on a dead connection none does: each outage would cost the pool some places for ever, until none is left.
 */
function giveBackDeadConnections(pool: ClientPool): void {
  const connect = pool.connect.bind(pool) as (connected: Connected) => void;
  const guarded = (connected: Connected): void =>
    connect((error, client, release) => {
      if (client) client.release = releaseOnce(client, release);
      connected(error, client, client?.release ?? release);
    });
  pool.connect = ((connected?: Connected) => {
    // The pool's own query() uses the form with a callback.
    if (connected) return guarded(connected);
    return new Promise<Client>((resolve, reject) => {
      guarded((error, client) => (client ? resolve(client) : reject(error)));
    });
  }) as ClientPool['connect'];
}

/** Gives the connection back when its holder does or when it ends, whichever comes first; what comes second does nothing. */
function releaseOnce(client: Client, release: Client['release']): Client['release'] {
  let held = true;
  const giveBack = (error?: Error): void => {
    if (!held) return;
    held = false;
    client.removeListener('end', died);
    release(error);
  };
  const died = (): void => giveBack(new Error('the connection ended'));
  client.once('end', died);
  return giveBack;
}
