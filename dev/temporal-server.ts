import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MikroORM } from '@mikro-orm/postgresql';
import { msToTs } from '@temporalio/common/lib/time.js';
import {
  type Print,
  type RunningServer,
  startChild,
  stopLeftovers,
  waitUntilReady,
} from '../src/base/processes.ts';
import { choosePort, freePort, retryTakenPort } from '../src/embedded/ports.ts';
import { probeTemporal } from '../src/embedded/temporal-probe.ts';
import { linkTemporal } from '../src/temporal/client.ts';
import { ensureSearchAttributes } from '../src/temporal/search-attributes.ts';
import { findTemporalServer, type TemporalServerPrograms } from './temporal-server-install.ts';

const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 30_000;
const SCHEMA_TIMEOUT_MS = 60_000;
const NAMESPACE_TRIES = 60;
const NAMESPACE_PAUSE_MS = 500;
const RETENTION = '30 days';
const ALREADY_EXISTS = 6;
/** Each has a schema of its own in the same PostgreSQL server. */
const STORES = { temporal: 'temporal', temporal_visibility: 'visibility' } as const;

const INNER_PORTS = [
  'FRONTEND_MEMBERSHIP_PORT',
  'FRONTEND_HTTP_PORT',
  'HISTORY_GRPC_PORT',
  'HISTORY_MEMBERSHIP_PORT',
  'MATCHING_GRPC_PORT',
  'MATCHING_MEMBERSHIP_PORT',
  'WORKER_GRPC_PORT',
  'WORKER_MEMBERSHIP_PORT',
];

/** Production's own switches. */
const DYNAMIC_CONFIG_FILE = join(import.meta.dirname, '../deploy/temporal/dynamic-config.yaml');
/**
 * A test does not wait for a new attribute, and can press the button that the server
 * offers only where an operator enables it.
 */
const MORE_CONFIG = `system.forceSearchAttributesCacheRefreshOnRead: [{ value: true }]
frontend.WorkflowPauseEnabled: [{ value: true }]`;

export type TemporalServerOptions = {
  /** For the log and the dynamic configuration; the store is in PostgreSQL. */
  readonly dataDir: string;
  /** A role on a PostgreSQL server that may create databases. */
  readonly postgresUrl: string;
  readonly port?: number;
  /** Unset means `default`. */
  readonly namespace?: string;
  /** Fixed by the first start over a store; unset means 8, which is plenty for one machine. */
  readonly historyShards?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly log: Print;
};

/** A running production Temporal server: all four services in one process, its stores in PostgreSQL. */
export type TemporalServer = RunningServer & {
  /** host:port of the gRPC service. */
  readonly address: string;
  readonly namespace: string;
};

/** Makes the missing ones of the two databases and their tables. A repetition changes nothing. */
async function prepareStores(programs: TemporalServerPrograms, postgresUrl: string): Promise<void> {
  const url = new URL(postgresUrl);
  const orm = await MikroORM.init({
    clientUrl: postgresUrl,
    entities: [],
    discovery: { warnWhenNoEntities: false },
  });
  try {
    for (const database of Object.keys(STORES)) {
      const found = await orm.em
        .getConnection()
        .execute('select 1 from pg_database where datname = ?', [database]);
      if (found.length === 0) await orm.em.getConnection().execute(`create database ${database}`);
    }
  } finally {
    await orm.close(true);
  }
  const env = { ...process.env, SQL_PASSWORD: decodeURIComponent(url.password) };
  for (const [database, schema] of Object.entries(STORES)) {
    const place = [
      '--plugin',
      'postgres12',
      '--ep',
      url.hostname,
      '-p',
      url.port,
      '-u',
      decodeURIComponent(url.username),
      '--db',
      database,
    ];
    const tool = (args: readonly string[]) =>
      promisify(execFile)(programs.sqlTool, [...place, ...args], { env, timeout: SCHEMA_TIMEOUT_MS });
    await tool(['setup-schema', '-v', '0.0']);
    await tool(['update-schema', '-d', join(programs.schemas, schema)]);
  }
}

/**
 * The ports between the services, the same at every start: the list of members in the database survives a
 * SIGKILL, and a server that comes back on other ports first waits for its dead predecessor. No two of them
 * are one: each is free until the server listens, and the same two would be tried at every start.
 */
async function innerPorts(dataDir: string, outerPort: number): Promise<NodeJS.ProcessEnv> {
  const file = join(dataDir, 'temporal-ports.json');
  const kept: NodeJS.ProcessEnv = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const ports: NodeJS.ProcessEnv = {};
  const taken = new Set([outerPort]);
  for (const name of INNER_PORTS) {
    const wanted = kept[name];
    let port = await (wanted === undefined ? freePort() : choosePort(name, Number(wanted)).catch(freePort));
    while (taken.has(port)) port = await freePort();
    taken.add(port);
    ports[name] = String(port);
  }
  writeFileSync(file, JSON.stringify(ports));
  return ports;
}

async function serverEnv(options: TemporalServerOptions, port: number): Promise<NodeJS.ProcessEnv> {
  const { postgresUrl, dataDir, historyShards = 8, env = process.env } = options;
  const url = new URL(postgresUrl);
  const config = join(dataDir, 'temporal-dynamic-config.yaml');
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(config, `${readFileSync(DYNAMIC_CONFIG_FILE, 'utf8')}\n${MORE_CONFIG}\n`);
  const ports = { ...(await innerPorts(dataDir, port)), FRONTEND_GRPC_PORT: String(port) };
  return {
    PATH: env['PATH'],
    HOME: env['HOME'],
    ...ports,
    BIND_ON_IP: '127.0.0.1',
    LOG_LEVEL: 'warn',
    DB: 'postgres12',
    POSTGRES_SEEDS: url.hostname,
    DB_PORT: url.port,
    DYNAMIC_CONFIG_FILE_PATH: config,
    POSTGRES_USER: decodeURIComponent(url.username),
    POSTGRES_PWD: decodeURIComponent(url.password),
    NUM_HISTORY_SHARDS: String(historyShards),
    TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
    // Four services with a pool each share one small database server with the gateway.
    SQL_MAX_CONNS: '10',
    SQL_MAX_IDLE_CONNS: '10',
    SQL_VIS_MAX_CONNS: '4',
    SQL_VIS_MAX_IDLE_CONNS: '4',
  };
}

async function serves(port: number): Promise<boolean> {
  return await probeTemporal(port, ({ workflowService }) =>
    workflowService.listNamespaces({ pageSize: 1 }),
  ).then(
    () => true,
    () => false,
  );
}

/**
 * A new namespace is known to every service only some seconds later, so this is
 * repeated until its attributes are there too.
 */
async function prepareNamespace(port: number, namespace: string): Promise<void> {
  await probeTemporal(port, ({ workflowService }) =>
    workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs(RETENTION) }),
  ).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== ALREADY_EXISTS) throw error;
  });
  const link = linkTemporal({ address: `127.0.0.1:${port}`, namespace });
  try {
    for (let tries = 1; ; tries++) {
      try {
        await link.ping();
        await ensureSearchAttributes(link, namespace);
        return;
      } catch (error) {
        if (tries >= NAMESPACE_TRIES) throw error;
        await sleep(NAMESPACE_PAUSE_MS);
      }
    }
  } finally {
    await link.close();
  }
}

/**
 * Starts the server as production runs it, with its stores in the given PostgreSQL server: databases,
 * tables, namespace (30 days of retention) and search attributes are made where they are missing.
 * Returns when the namespace answers. Works again after a SIGKILL of it or of PostgreSQL. The first
 * call for a user builds the programs, which takes minutes. Throws a sentence when it cannot serve.
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { dataDir, namespace = 'default', env = process.env, log } = options;
  await stopLeftovers(dataDir, log);
  const programs = await findTemporalServer({ log, env });
  await prepareStores(programs, options.postgresUrl);
  return retryTakenPort(async () => {
    const port = await choosePort('Temporal', options.port);
    const child = await startChild({
      name: 'Temporal server',
      command: programs.server,
      args: ['--allow-no-auth', 'start'],
      cwd: dataDir,
      dataDir,
      env: await serverEnv(options, port),
      logFile: join(dataDir, 'temporal.log'),
      stopTimeoutMs: STOP_TIMEOUT_MS,
    });
    await waitUntilReady(child, {
      name: 'the Temporal server',
      timeoutMs: START_TIMEOUT_MS,
      ready: () => serves(port),
    });
    // A server that runs but could not be prepared, because PostgreSQL became unreachable just
    // then, would keep its port from the next try.
    await prepareNamespace(port, namespace).catch(async (error: unknown) => {
      await child.kill();
      throw error;
    });
    log(`Temporal server on 127.0.0.1:${port}, stores in PostgreSQL`);
    const { pid, stop, kill, pause, resume } = child;
    return { address: `127.0.0.1:${port}`, port, namespace, pid, stop, kill, pause, resume };
  });
}
