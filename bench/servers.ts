// The servers of a soak or a bench as processes that may be killed and come back over the same data.
import { appendFileSync, chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECRETS_KEY } from '../dev/support/live-gateway.ts';
import { testXpubs } from '../dev/support/test-wallet.ts';
import { startTemporalServer } from '../dev/temporal-server.ts';
import { type Child, type Print, startChild } from '../src/base/processes.ts';
import { freePort } from '../src/embedded/ports.ts';
import { startPostgres } from '../src/embedded/postgres.ts';
import { startTemporal } from '../src/embedded/temporal.ts';

const ENTRY = join(import.meta.dirname, '../src/bin.mjs');
const RESTART_PAUSE_MS = 1_000;
const START_TRIES = 30;
const GATEWAY_STOP_MS = 40_000;
const WATCH_EVERY_MS = 200;

/** A process that may be killed and comes back over the same data on the same port. */
export type Server = {
  readonly name: string;
  kill(): Promise<void>;
  /** Starts it again, tried for half a minute: what it needs may itself be down. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The process that runs now; of no use once it is killed. */
  pid(): number | undefined;
};

/** A folder for one part below the folder of the run. */
export function folderIn(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o711); // PostgreSQL runs as another user where we are root
  return path;
}

type Started = { readonly pid: number | undefined; readonly port: number } & Pick<Server, 'kill' | 'stop'>;

/** What `start` starts, and starts again on the port that it had. */
async function restartable<T extends Started>(name: string, start: (port?: number) => Promise<T>) {
  const first = await start();
  let now = first;
  const server: Server & { readonly first: T } = {
    name,
    first,
    kill: () => now.kill(),
    stop: () => now.stop(),
    pid: () => now.pid,
    start: async () => {
      for (let tries = 1; ; tries++) {
        try {
          now = await start(first.port);
          return;
        } catch (error) {
          if (tries >= START_TRIES) throw error;
          await sleep(RESTART_PAUSE_MS);
        }
      }
    },
  };
  return server;
}

/** PostgreSQL for the gateway, and for the production Temporal server too. */
export async function postgresServer(folder: string, log: Print): Promise<Server & { readonly url: string }> {
  const dataDir = folderIn(folder, 'postgres');
  const server = await restartable('postgres', (port) =>
    startPostgres({ dataDir, fsync: false, log, ...(port === undefined ? {} : { port }) }),
  );
  return { ...server, url: server.first.url };
}

/**
 * Temporal: the development server with its own file, or the production server with its stores in PostgreSQL.
 */
export async function temporalServer(input: {
  folder: string;
  postgresUrl: string;
  devServer: boolean;
  log: Print;
}): Promise<Server & { readonly address: string }> {
  const dataDir = folderIn(input.folder, 'temporal');
  const { log, postgresUrl } = input;
  const server = await restartable<Started & { readonly address: string }>('temporal', (port) => {
    const options = { dataDir, log, ...(port === undefined ? {} : { port }) };
    return input.devServer ? startTemporal(options) : startTemporalServer({ ...options, postgresUrl });
  });
  return { ...server, address: server.first.address };
}

/** What every role of a bench's gateway is told, on the wallet of tests. */
export function roleEnv(databaseUrl: string): NodeJS.ProcessEnv {
  const { live, test } = testXpubs();
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_URL: databaseUrl,
    WALLET_XPUB_BSC: live.bsc,
    WALLET_XPUB_TRON: live.tron,
    WALLET_XPUB_TEST_BSC: test.bsc,
    WALLET_XPUB_TEST_TRON: test.tron,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    SECRETS_KEY: SECRETS_KEY.toString('base64'),
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
  };
}

/**
 * A role of the gateway under a supervisor: whenever it ends
 * by itself it is started again, as a container would be.
 */
export type Role = Server & { readonly api: string; ended(): readonly string[] };

/**
 * Runs one role of the gateway as a process of its own. Returns at once; the process may still be on its way.
 */
export async function gatewayRole(input: {
  name: string;
  role: 'api' | 'worker' | 'signer';
  folder: string;
  env: NodeJS.ProcessEnv;
}): Promise<Role> {
  const { name, role, env } = input;
  const dataDir = folderIn(input.folder, name);
  const logFile = join(dataDir, 'gateway.log');
  const port = await freePort();
  const ended: string[] = [];
  let child: Child | undefined;
  let wanted = true;
  let starting = false;
  const start = async () => {
    starting = true;
    try {
      child = await startChild({
        name,
        command: process.execPath,
        args: [ENTRY, 'start', '--role', role],
        logFile,
        dataDir,
        stopTimeoutMs: GATEWAY_STOP_MS,
        env: { ...env, PORT: String(port), OPS_PORT: '0', DATA_DIR: join(dataDir, 'data') },
      });
    } finally {
      starting = false;
    }
  };
  const watch = setInterval(() => {
    if (!wanted || starting || !child || child.running()) return;
    ended.push(`${new Date().toISOString()} ended with ${child.status()}: ${child.output().slice(-400)}`);
    starting = true;
    void sleep(RESTART_PAUSE_MS).then(() => (wanted ? start() : undefined));
  }, WATCH_EVERY_MS);
  const down = async (end: (running: Child) => Promise<void>) => {
    wanted = false;
    while (starting) await sleep(WATCH_EVERY_MS / 4);
    if (child) await end(child);
  };
  await start();
  return {
    name,
    api: `http://127.0.0.1:${port}/api/v1`,
    ended: () => ended,
    pid: () => child?.pid,
    kill: () =>
      down(async (running) => {
        await running.kill();
        appendFileSync(logFile, '--- killed ---\n');
      }),
    start: async () => {
      wanted = true;
      await start();
    },
    stop: () =>
      down(async (running) => {
        clearInterval(watch);
        await running.stop();
        if (running.status() !== 0)
          ended.push(`${new Date().toISOString()} the last stop ended with ${running.status()}`);
      }),
  };
}
