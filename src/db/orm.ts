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

/**
 * Opens a pool on the database. The first connection is made by the first query, so this never fails because the database is away.
 * Callers use `orm.em.fork()` for each request and each activity.
 */
export async function openOrm(input: {
  url: string;
  poolSize: number;
  applicationName: string;
  statementTimeoutMs?: number;
}): Promise<Orm> {
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
      pool: { min: 0, max: input.poolSize, idleTimeoutMillis: 30_000 },
      driverOptions: {
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        statement_timeout: input.statementTimeoutMs ?? 15_000,
        application_name: input.applicationName,
        keepAlive: true,
      },
      forceUtcTimezone: true,
      ignoreUndefinedInQuery: true,
    }),
  );
}
