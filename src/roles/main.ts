import { existsSync } from 'node:fs';
import { activityDepsOf, composeGateway, depsOf, type Gateway } from '../app/compose.ts';
import { locateDatabase, locateKeys, locateTemporal } from '../app/ground.ts';
import { startLoops } from '../app/loops.ts';
import { migrate, requireCurrentSchema } from '../app/migrate.ts';
import { serveApi, serveWorker } from '../app/serve.ts';
import { openDataDir, removeRun, writeRun } from '../base/data-dir.ts';
import { OperatorError } from '../base/errors.ts';
import { componentLogger, createLogger, type Logger } from '../base/log.ts';
import { createShutdown, type Shutdown } from '../base/shutdown.ts';
import { READABLE_CHAINS } from '../chains/index.ts';
import { ChainMismatch } from '../chains/rpc/errors.ts';
import { type Config, type ConfigRole, loadConfig } from '../config/index.ts';
import type { Network } from '../domain/assets.ts';
import type { TemporalPlace } from '../temporal/place.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { runWorker } from '../temporal/worker.ts';

export type Role = 'api' | 'worker' | 'signer' | 'all';
export type Started = { readonly api: string | null; readonly ops: string | null; readonly temporalUi: string | null };

/** Connections of the API, and of a worker's start; those of a worker's parts, and of health and metrics, come on top. */
const POOL_SIZE: Readonly<Record<Role, number>> = { api: 10, worker: 2, signer: 2, all: 10 };
const IDENTITY_WITHIN_MS = 10_000;

/**
 * Runs one role, or all in one process, until SIGTERM or SIGINT. When it is ready it prints one JSON line on stdout; logs go to stderr.
 * Throws OperatorError or ConfigError before it is ready; afterwards it logs, waits and goes on.
 */
export async function startGateway(input: { env: NodeJS.ProcessEnv; role: Role; json: boolean }): Promise<void> {
  const config = loadConfig(input.env, { role: input.role satisfies ConfigRole });
  const log = createLogger({ level: config.logLevel, format: config.logFormat });
  const shutdown = createShutdown({ log });
  try {
    const started = await startRole(config, input.role, log, shutdown);
    shutdown.listen();
    const { api, ops, temporalUi } = started;
    process.stdout.write(`${JSON.stringify({ ready: true, api, ops, temporal_ui: temporalUi, pid: process.pid })}\n`);
  } catch (error) {
    await shutdown.run('the start failed');
    throw error;
  }
  await new Promise<void>((resolve) => shutdown.signal.addEventListener('abort', () => resolve(), { once: true }));
  // The listener ends the process after the drain; this promise only keeps the caller waiting for it.
  await new Promise<never>(() => undefined);
}

async function startRole(config: Config, role: Role, log: Logger, shutdown: Shutdown): Promise<Started> {
  for (const warning of config.warnings) log.warn({ component: 'config' }, warning);
  if (role === 'signer') return await startSigner(config, log);
  const startedAt = new Date();
  const embeds = role === 'all' && !config.production;
  if (embeds) {
    const dataDir = await openDataDir(config.dataDir, (line) => log.info({ component: 'data' }, line));
    shutdown.add('data folder', () => dataDir.release());
  }
  const keys = await locateKeys(config, log);
  const database = await locateDatabase(config, log, embeds);
  if (database.embedded) shutdown.add('PostgreSQL', () => database.embedded?.stop());
  const temporal = await locateTemporal(config, log, embeds);
  if (temporal.embedded) shutdown.add('Temporal', () => temporal.embedded?.stop());
  const ground = { databaseUrl: database.url, temporal: temporal.place, xpubs: keys.xpubs, secretsKey: keys.secretsKey };
  const gateway = await composeGateway({
    ...{ config, ground, log, name: role, poolSize: POOL_SIZE[role] },
    ...{ works: role !== 'api', observed: true, serves: role !== 'worker' },
  });
  shutdown.add('connections', () => gateway.close());
  await prepareSchema(gateway, database.embedded !== undefined || role === 'all');
  await checkChains(gateway);
  if (role !== 'api') await startWorkerRole(gateway, { gas: keys.gas, temporal: temporal.place }, log, shutdown);
  const { api, ops } = await (role === 'worker' ? serveWorker : serveApi)({ gateway, config, startedAt, shutdown });
  if (embeds && api) {
    writeRun(config.dataDir, {
      api,
      databaseUrl: database.url,
      temporalAddress: temporal.place.address,
      temporalUi: temporal.uiUrl,
      pid: process.pid,
    });
    shutdown.add('run file', () => removeRun(config.dataDir));
  }
  return { api, ops, temporalUi: temporal.uiUrl };
}

/** Outside production one process that does everything also brings the schema up to date; in production `migrate` is a step of its own. */
async function prepareSchema(gateway: Gateway, own: boolean): Promise<void> {
  try {
    if (own && !gateway.config.production) await migrate(gateway.deps.orm);
    else await requireCurrentSchema(gateway.deps.orm);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The database cannot be used: ${reason}`, 'Check DATABASE_URL and that PostgreSQL runs, then start again', {
      cause: error,
    });
  }
}

/** A wrong chain or token refuses to run; an endpoint that is away is waited for later. */
async function checkChains({ chains, log }: Gateway): Promise<void> {
  for (const { network, name, watchedBy, identifiedBy } of READABLE_CHAINS) {
    const chain = chains.get(network);
    if (!chain) {
      log.warn({ network }, `${watchedBy} is not set: addresses on ${name} are made but not watched; nothing is lost when it is set later`);
      continue;
    }
    try {
      await chain.reader.checkIdentity(AbortSignal.timeout(IDENTITY_WITHIN_MS));
    } catch (error) {
      if (error instanceof ChainMismatch)
        throw new OperatorError(error.message, `Correct ${identifiedBy} and start again`, { cause: error });
      log.warn({ err: error, network }, 'the chain could not be checked yet; the watcher waits for it');
    }
  }
}

type WorkerGround = { gas: Partial<Record<Network, string>>; temporal: TemporalPlace };

async function startWorkerRole(gateway: Gateway, ground: WorkerGround, log: Logger, shutdown: Shutdown): Promise<void> {
  const { link } = gateway;
  if (!link) throw new OperatorError('A worker needs Temporal', 'Set TEMPORAL_ADDRESS');
  const activityDeps = activityDepsOf(gateway, ground.gas, shutdown.signal);
  const workerLog = componentLogger(log, 'worker');
  await ensureSearchAttributes(link, ground.temporal.namespace).catch((error: unknown) => {
    workerLog.warn({ err: error }, 'the search attributes could not be checked; "doctor" says which are missing');
  });
  const worker = await runWorker({ place: ground.temporal, deps: activityDeps, signal: shutdown.signal, log: workerLog });
  worker.finished.catch((error: unknown) => {
    workerLog.error({ err: error }, 'the worker ended; leaving so that a supervisor starts it anew');
    void shutdown.run('the worker ended').then(() => process.exit(1));
  });
  shutdown.add('worker', () => worker.stop());
  const loops = startLoops(
    depsOf(gateway, 'loops'),
    [...activityDeps.chains.values()].map((chain) => chain.reader.network),
    shutdown.signal,
  );
  shutdown.add('loops', async () => {
    await Promise.all(loops);
  });
}

/** The signer opens its seed and waits: what it signs comes with payouts. It proves at the start that its files can be opened. */
async function startSigner(config: Config, log: Logger): Promise<Started> {
  const { openWallet, readPassphraseFile } = await import('../signer/wallet-file.ts');
  const { seedFile, passphraseFile } = config.wallet;
  if (!existsSync(seedFile))
    throw new OperatorError(`There is no wallet at ${seedFile}`, 'Make one with "gateway wallet new", or set WALLET_SEED_FILE');
  const { passphrase } = await readPassphraseFile(passphraseFile);
  const wallet = await openWallet({ file: seedFile, passphrase });
  for (const warning of wallet.warnings) log.warn({ component: 'signer' }, warning);
  // Nothing to sign yet: this only keeps the process alive until it is told to stop.
  setInterval(() => undefined, 60_000);
  return { api: null, ops: null, temporalUi: null };
}
