import { createHash, randomBytes } from 'node:crypto';
import { activityDepsOf, composeGateway, depsOf, type Gateway } from '../../src/app/compose.ts';
import { startLoops } from '../../src/app/loops.ts';
import { migrate } from '../../src/app/migrate.ts';
import { createLogger } from '../../src/base/log.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { loadConfig } from '../../src/config/index.ts';
import type { WatchedChain } from '../../src/services/watcher/watched-chain.ts';
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { type RunningWorker, runWorker } from '../../src/temporal/worker.ts';
import { note } from './test-run.ts';
import { testXpubs } from './test-wallet.ts';

/** The key of stored secrets in every test gateway: one process can open what another one sealed. */
export const SECRETS_KEY: Buffer = createHash('sha256').update('deposit gateway tests').digest();

export type LiveOptions = {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  /** Unset means `default`. */
  readonly namespace?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Replaces parts of the dependencies: a faster clock, say. */
  readonly settings?: Partial<Gateway['deps']['settings']>;
};

/** Settings of a gateway that waits a tenth as long as it usually does, for chains and for receivers. */
export const QUICK = { pace: 0.1 } as const;
/** Closer questions would take the processor from everything else. */
const CLOSEST_MS = 30;

/** What a chain's watcher waits for, at this share of the time. */
function pacedReader(reader: ChainReader, share: number): ChainReader {
  const { head, final, ...rest } = reader.pace;
  const at = (ms: number): number => Math.max(Math.min(ms, CLOSEST_MS), ms * share);
  const { byTheClock } = head;
  return {
    ...reader,
    pace: {
      ...rest,
      head: {
        closestMs: at(head.closestMs),
        widestMs: at(head.widestMs),
        longestBlockMs: at(head.longestBlockMs),
        ...(byTheClock ? { byTheClock: { ...byTheClock, everyMs: at(byTheClock.everyMs) } } : {}),
      },
      // Some chains are asked once in a minute what is final, which is too long even at a tenth.
      final: { ...final, outstandingMs: at(rest.wholeLookMs), quietMs: at(final.quietMs) },
      wholeLookMs: at(rest.wholeLookMs),
      faultPauseMs: at(rest.faultPauseMs),
      longestFaultPauseMs: at(rest.longestFaultPauseMs),
    },
  };
}

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
  const log = notedLogger(env.LOG_LEVEL);
  const place = { address: options.temporalAddress, namespace: options.namespace ?? 'default' };
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
    const usual = activityDepsOf(gateway, abort.signal);
    const { pace } = deps.settings;
    const quick = [...usual.chains].map(([network, chain]): [string, WatchedChain] => [
      network,
      pace === undefined ? chain : { ...chain, reader: pacedReader(chain.reader, pace) },
    ]);
    const activityDeps = { ...usual, chains: new Map(quick) };
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

/** Pino's numbers are not needed: each line names its level. */
const NOTED = /"level":"(?:warn|error|fatal)"/;
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'];

/** A log that shows lines of this level and above, and has a failed test show its last warnings, too. */
function notedLogger(level: string) {
  const shown = LEVELS.slice(0, LEVELS.indexOf(level) + 1);
  const isShown = new RegExp(`"level":"(?:${shown.join('|')})"`);
  const write = (line: string): void => {
    if (NOTED.test(line)) note(line.trimEnd());
    if (isShown.test(line)) process.stderr.write(line);
  };
  const lowest = shown.includes('warn') ? level : 'warn';
  return createLogger({ level: lowest, format: 'json', destination: { write } });
}
