import { MikroORM } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, type EntityManager, type PostgreSqlDriver } from '@mikro-orm/postgresql';
import { MIGRATIONS } from '../../migrations/index.ts';
import { type ClientPool, connectionsOf, socketThatEndsWhenSilent, type Turns } from './connections.ts';
import { ENTITIES } from './entities/index.ts';
import { startupOptions } from './session.ts';
import { tlsOf } from './tls.ts';

export type Orm = MikroORM<PostgreSqlDriver>;
export type Em = EntityManager;

/**
 * Longest wait for a connection, the queue for a free one included. It is long enough
 * that a burst of work waits its turn instead of failing; the API has a deadline of its
 * own, so none of its callers waits this long.
 */
const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** The wait for a lock is shorter than what a statement may take, so that the error names the lock. */
const LOCK_TIMEOUT_MS = 5_000;
/**
 * Nothing slow is done between two statements of a transaction: a client that sends nothing for
 * this long has vanished, and its locks end with it.
 */
const IDLE_IN_TRANSACTION_MS = 10_000;
/**
 * How the server notices that the host at the other end vanished: within 5 s, also
 * while it works on a statement. Together with the idle transaction's limit, no
 * vanished client holds a lock for longer than 15 s.
 */
const NOTICES_THE_END = {
  tcp_keepalives_idle: '2s',
  tcp_keepalives_interval: '1s',
  tcp_keepalives_count: '2',
  tcp_user_timeout: '4s',
  client_connection_check_interval: '200ms',
} as const;
/** When we first ask whether the server is still there; the limit for its silence is set below. */
const KEEP_ALIVE_AFTER_MS = 5_000;
/**
 * A living server answers or cancels within the statement timeout; a connection
 * that is silent for longer has no server.
 */
const SILENCE_BEYOND_STATEMENT_MS = 10_000;
/** Shorter than the silence, so that an idle connection is closed in good order. */
const IDLE_MS = 10_000;

export type OrmInput = {
  readonly url: string;
  readonly poolSize: number;
  readonly applicationName: string;
  /**
   * 0 means no time limit at all, for work that rebuilds a grown database. That
   * the other host vanished is still noticed.
   */
  readonly statementTimeoutMs?: number;
  /**
   * How long a statement waits for a lock; unset means 5 s, or four fifths
   * of what a shorter statement may take.
   */
  readonly lockTimeoutMs?: number;
  /** After this long without a statement the server ends a connection that is in a transaction. */
  readonly idleInTransactionMs?: number;
  /**
   * After this long without a byte a connection is taken for dead; unset means ten
   * seconds more than a statement may take.
   */
  readonly silenceMs?: number;
  /** How the connections are shared among parties; unset means first come, first served. */
  readonly turns?: Turns | undefined;
};

/**
 * Opens a pool on the database. The first connection is made by the first query, so this never fails because
 * the database is unreachable. Callers use `orm.em.fork()` for each request and each activity. Throws where
 * the URL asks for something that is not honoured ({@link tlsOf}).
 */
export async function openOrm(input: OrmInput): Promise<Orm> {
  const limits = limitsOf(input);
  const ssl = tlsOf(input.url);
  return await MikroORM.init(
    defineConfig({
      clientUrl: input.url,
      entities: ENTITIES,
      extensions: [Migrator],
      discovery: { warnWhenNoEntities: false },
      // The default creates a missing database, so a typing error would become an empty gateway.
      ensureDatabase: false,
      migrations: {
        migrationsList: MIGRATIONS,
        tableName: 'schema_migrations',
        snapshot: false,
        transactional: true,
        // Each migration runs by itself: one that builds an index concurrently
        // must run outside of any transaction.
        allOrNothing: false,
        silent: true,
      },
      pool: { min: 0, max: input.poolSize, idleTimeoutMillis: IDLE_MS },
      driverOptions: {
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        options: startupOptions({
          statement_timeout: `${limits.statementTimeoutMs}ms`,
          lock_timeout: `${limits.lockTimeoutMs}ms`,
          idle_in_transaction_session_timeout: `${limits.idleInTransactionMs}ms`,
          ...NOTICES_THE_END,
        }),
        application_name: input.applicationName,
        ...(ssl === undefined ? {} : { ssl }),
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
        stream: () => socketThatEndsWhenSilent(limits.silenceMs),
        onPoolCreated: (pool: ClientPool) =>
          connectionsOf(pool, { statementMs: limits.statementTimeoutMs, turns: input.turns }),
        // A statement's time limit goes out together with the statement instead of one round trip before it.
        pipeline: true,
      },
      forceUtcTimezone: true,
      ignoreUndefinedInQuery: true,
    }),
  );
}

type Limits = Required<
  Pick<OrmInput, 'statementTimeoutMs' | 'lockTimeoutMs' | 'idleInTransactionMs' | 'silenceMs'>
>;

/** In milliseconds; 0 is no limit. */
function limitsOf(input: OrmInput): Limits {
  if (input.statementTimeoutMs === 0)
    return { statementTimeoutMs: 0, lockTimeoutMs: 0, idleInTransactionMs: 0, silenceMs: 0 };
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, idleInTransactionMs = IDLE_IN_TRANSACTION_MS } = input;
  const lockTimeoutMs =
    input.lockTimeoutMs ?? Math.min(LOCK_TIMEOUT_MS, Math.ceil((statementTimeoutMs * 4) / 5));
  const silenceMs = input.silenceMs ?? statementTimeoutMs + SILENCE_BEYOND_STATEMENT_MS;
  return { statementTimeoutMs, lockTimeoutMs, idleInTransactionMs, silenceMs };
}
