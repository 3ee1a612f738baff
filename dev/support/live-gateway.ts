import { createHash, randomBytes } from 'node:crypto';
import { activityDepsOf, composeGateway, depsOf, type Gateway } from '../../src/app/compose.ts';
import { startLoops } from '../../src/app/loops.ts';
import { migrate } from '../../src/app/migrate.ts';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/index.ts';
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { type RunningWorker, runWorker } from '../../src/temporal/worker.ts';
import { testXpubs } from './test-wallet.ts';

/** The key of stored secrets in every test gateway: one process can open what another one sealed. */
export const SECRETS_KEY: Buffer = createHash('sha256').update('deposit gateway tests').digest();

export type LiveOptions = {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Replaces parts of the dependencies: a faster clock, say. */
  readonly settings?: Partial<Gateway['deps']['settings']>;
};

/** A whole gateway in this process on real servers: services, workers and loops. Stopped by `stop`. */
export async function startLiveGateway(options: LiveOptions) {
  const env = {
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    DUST_FLOOR: 'none',
    LOG_LEVEL: 'error',
    ...options.env,
  };
  const config = loadConfig(env, { role: 'all' });
  const log = createLogger({ level: env.LOG_LEVEL });
  const place = { address: options.temporalAddress, namespace: 'default' };
  const environment = {
    databaseUrl: options.databaseUrl,
    temporal: place,
    xpubs: testXpubs(),
    secretsKey: SECRETS_KEY,
  };
  const composed = await composeGateway({ config, environment, log, name: 'test', poolSize: 6, works: true });
  const deps = { ...composed.deps, settings: { ...composed.deps.settings, ...options.settings } };
  const gateway: Gateway = { ...composed, deps };
  await migrate(deps.orm);
  if (gateway.link) await ensureSearchAttributes(gateway.link, place.namespace);
  let running: { worker: RunningWorker; loops: Promise<void>[]; abort: AbortController } | undefined;
  const startWorker = async (): Promise<void> => {
    const abort = new AbortController();
    const activityDeps = activityDepsOf(gateway, abort.signal);
    const worker = await runWorker({ place, deps: activityDeps, signal: abort.signal, log });
    const chains = new Map([...activityDeps.chains.values()].map((chain) => [chain.reader.network, chain]));
    running = { worker, abort, loops: startLoops(depsOf(gateway, 'loops'), chains, abort.signal) };
  };
  const stopWorker = async (): Promise<void> => {
    running?.abort.abort(new Error('the test stops the worker'));
    await running?.worker.stop();
    await Promise.all(running?.loops ?? []);
    running = undefined;
  };
  await startWorker();
  return {
    gateway,
    deps,
    startWorker,
    stopWorker,
    stop: async () => {
      await stopWorker();
      await gateway.close();
    },
  };
}

export type LiveGateway = Awaited<ReturnType<typeof startLiveGateway>>;

/** A transaction hash that exists nowhere. */
export const randomHash = (): string => `0x${randomBytes(32).toString('hex')}`;
