import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MikroORM } from '@mikro-orm/postgresql';
import { migrate } from '../../src/app/migrate.ts';
import { type DataDir, openDataDir, tryLock } from '../../src/base/data-dir.ts';
import { type Print, stopAllChildren, stopLeftovers } from '../../src/base/processes.ts';
import { openOrm } from '../../src/db/orm.ts';
import { type Postgres, startPostgres } from '../../src/embedded/postgres.ts';
import { startTemporal, type Temporal } from '../../src/embedded/temporal.ts';
import { findTemporalCli } from '../../src/embedded/temporal-cli.ts';
import { linkTemporal } from '../../src/temporal/client.ts';
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { type Anvil, type AnvilOptions, startAnvil } from '../anvil.ts';
import { startTemporalServer } from '../temporal-server.ts';
import { eventually } from './eventually.ts';
import { testRun } from './test-run.ts';

/**
 * A server of one test's own: it may be stopped, killed and
 * frozen, and comes back over the same data on the same port.
 */
export type Restartable<T> = {
  readonly now: T;
  stop(): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<T>;
};

/** A database of one test's own on the shared server. */
export type FreshDatabase = { readonly url: string; readonly name: string; drop(): Promise<void> };

const PREFIX = 'gateway-test-';
const silent: Print = () => undefined;
const toStderr: Print = (line) => void process.stderr.write(`${line}\n`);
testRun.atEnd.push(stopParts);

let base: Promise<DataDir> | undefined;
let sharedPostgres: Promise<Postgres> | undefined;
let sharedTemporal: Promise<Temporal> | undefined;
let temporalCli: Promise<string> | undefined;
let template: Promise<string> | undefined;
let administrator: Promise<MikroORM> | undefined;

/** Removes what a test run that was killed left behind: its processes first, then its folder. */
export async function clearKilledRuns(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    await clearKilledRun(folder).catch((error: unknown) => {
      // Several runs that begin at once clear the same folder, and one of them is the last.
      if (existsSync(folder)) throw error;
    });
  }
}

async function clearKilledRun(folder: string): Promise<void> {
  if (!existsSync(join(folder, 'lock.pid'))) return;
  const lock = tryLock(join(folder, 'lock'));
  if (!lock) return;
  for (const part of readdirSync(folder, { withFileTypes: true }))
    if (part.isDirectory()) await stopLeftovers(join(folder, part.name), silent);
  lock.release();
  rmSync(folder, { recursive: true, force: true });
}

async function makeBase(): Promise<DataDir> {
  await clearKilledRuns();
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  chmodSync(folder, 0o711); // PostgreSQL runs as another user where we are root
  return openDataDir(folder, silent);
}

/** A new empty folder that is removed when the tests end; the system user `postgres` can pass through it. */
export async function tempDir(name = 'dir'): Promise<string> {
  base ??= makeBase();
  const folder = join((await base).path, `${name}-${randomBytes(4).toString('hex')}`);
  mkdirSync(folder, { mode: 0o711 });
  return folder;
}

/** The one PostgreSQL server that all tests of this process share, started at the first call. */
export function postgres(): Promise<Postgres> {
  sharedPostgres ??= tempDir('postgres').then((dataDir) =>
    startPostgres({ dataDir, fsync: false, log: silent }),
  );
  return sharedPostgres;
}

/**
 * Called before the first server of a process: its program may have to be
 * fetched or built, and then says so on stderr.
 */
function needTemporalCli(): Promise<string> {
  temporalCli ??= testRun.unlimited(() => findTemporalCli({ log: toStderr, env: process.env }));
  return temporalCli;
}

async function newTemporal(): Promise<Temporal> {
  await needTemporalCli();
  return startTemporal({ dataDir: await tempDir('temporal'), log: silent });
}

/**
 * The one Temporal server that all tests of this process share,
 * started at the first call. Use a task queue of your own, or {@link ownNamespace}.
 */
export function temporal(): Promise<Temporal> {
  sharedTemporal ??= newTemporal();
  return sharedTemporal;
}

const ONE_DAY_S = 24 * 60 * 60;
const notYours = (): never => {
  throw new Error('others use this Temporal server, too: take one of your own with ownTemporal()');
};
const NOT_YOURS = { stop: notYours, kill: notYours, pause: notYours, resume: notYours };

/**
 * A new namespace on the server that all tests of this process share: nobody meets another's actors
 * there. Who stops, kills or freezes the server takes one of his own by {@link ownTemporal}.
 */
export async function ownNamespace(): Promise<Restartable<Temporal>> {
  const server = await temporal();
  const namespace = `test-${randomBytes(4).toString('hex')}`;
  const link = linkTemporal({ address: server.address, namespace });
  try {
    const workflowExecutionRetentionPeriod = { seconds: ONE_DAY_S as never };
    await link.client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    await eventually('the search attributes of a new namespace', () =>
      ensureSearchAttributes(link, namespace).then(
        () => true,
        () => false,
      ),
    );
  } finally {
    await link.close();
  }
  return { now: { ...server, ...NOT_YOURS, namespace }, ...NOT_YOURS, start: notYours };
}

/** A new EVM node, stopped when the tests end. */
export function anvil(options: Partial<AnvilOptions> = {}): Promise<Anvil> {
  return startAnvil({ log: silent, ...options });
}

async function administrate(sql: string): Promise<void> {
  administrator ??= postgres().then(({ url }) =>
    MikroORM.init({ clientUrl: url, entities: [], discovery: { warnWhenNoEntities: false } }),
  );
  await (await administrator).em.getConnection().execute(sql);
}

/** A newly made empty database. */
export function freshDatabase(): Promise<FreshDatabase> {
  return createDatabase('template1');
}

/**
 * A newly made database with the schema of today and no rows:
 * a copy, which takes a tenth of the time of all migrations.
 */
export async function migratedDatabase(): Promise<FreshDatabase> {
  template ??= freshDatabase().then(async ({ url, name }) => {
    const orm = await openOrm({ url, poolSize: 2, applicationName: 'test', statementTimeoutMs: 0 });
    await migrate(orm).finally(() => orm.close(true));
    return name;
  });
  return await createDatabase(await template);
}

async function createDatabase(from: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const server = await postgres();
  await administrate(`create database ${name} template ${from}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return { url: url.href, name, drop: () => administrate(`drop database if exists ${name} with (force)`) };
}

function restartable<T extends { stop(): Promise<void>; kill(): Promise<void> }>(
  first: T,
  again: (before: T) => Promise<T>,
): Restartable<T> {
  let now = first;
  return {
    get now() {
      return now;
    },
    stop: () => now.stop(),
    kill: () => now.kill(),
    start: async () => {
      now = await again(now);
      return now;
    },
  };
}

/** A PostgreSQL server that one test may kill. */
export async function ownPostgres(): Promise<Restartable<Postgres>> {
  const dataDir = await tempDir('own-postgres');
  const start = (port?: number) =>
    startPostgres({ dataDir, fsync: false, log: silent, ...(port === undefined ? {} : { port }) });
  return restartable(await start(), ({ port }) => start(port));
}

/** A Temporal server that one test may kill. */
export async function ownTemporal(): Promise<Restartable<Temporal>> {
  await needTemporalCli();
  const dataDir = await tempDir('own-temporal');
  const uiPortOf = ({ uiUrl }: Temporal) => Number(new URL(uiUrl).port);
  const first = await startTemporal({ dataDir, log: silent });
  return restartable(first, (before) =>
    startTemporal({ dataDir, log: silent, port: before.port, uiPort: uiPortOf(before) }),
  );
}

/**
 * A Temporal server as production runs it, which one test may kill; its stores are in a
 * PostgreSQL server of its own. The first call for a user may build for minutes. Throws
 * a sentence where the server cannot be built.
 */
export async function ownProductionTemporal(): Promise<Restartable<Temporal>> {
  const dataDir = await tempDir('own-temporal-server');
  const stores = await ownPostgres();
  const start = async (port?: number): Promise<Temporal> => ({
    ...(await startTemporalServer({
      dataDir,
      postgresUrl: stores.now.url,
      log: silent,
      ...(port === undefined ? {} : { port }),
    })),
    uiUrl: '',
  });
  return restartable(await start(), ({ port }) => start(port));
}

/** Stops everything that was started here and removes its folders. */
export async function stopParts(): Promise<void> {
  const settled = (promise: Promise<unknown> | undefined) => promise?.catch(() => undefined);
  await settled(administrator?.then((orm) => orm.close(true)));
  await stopAllChildren();
  const folder = await base?.catch(() => undefined);
  folder?.release();
  if (folder) rmSync(folder.path, { recursive: true, force: true });
  base = sharedPostgres = sharedTemporal = template = administrator = undefined;
}
