import { randomUUID } from 'node:crypto';
import type { ActivityDeps } from '../../activities/index.ts';
import { componentLogger, type Logger, outagesOf } from '../base/log.ts';
import { createSecretBox } from '../base/secret-box.ts';
import type { AccountXpubs } from '../chains/account-xpubs.ts';
import { AddressSet } from '../chains/address-set.ts';
import type { ChainSettings, OpenChain } from '../chains/chain.ts';
import { firstBlockSince } from '../chains/first-block.ts';
import { byNetwork, openChains, watchedChains } from '../chains/index.ts';
import { openedPriceChain } from '../chains/prices/open.ts';
import { createPriceSource } from '../chains/prices/source.ts';
import { type Config, thresholdUnits } from '../config/index.ts';
import { type Orm, openOrm } from '../db/orm.ts';
import { databaseTime, requireWrites } from '../db/usable.ts';
import { ASSETS, type Mode, type Network } from '../domain/assets.ts';
import type { Deps, ServiceSettings } from '../services/deps.ts';
import { requestsIn } from '../services/watcher/requests.ts';
import type { WatchedChain } from '../services/watcher/watched-chain.ts';
import { createLookup } from '../services/webhooks/http/lookup.ts';
import { createWebhookTransport } from '../services/webhooks/http/transport.ts';
import { createDeliverySlots } from '../services/webhooks/slots.ts';
import { linkTemporal, type TemporalLink } from '../temporal/client.ts';
import type { TemporalPlace } from '../temporal/place.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { beginAtZero, observeChain, observeDeliveries, observeTransport } from './observe.ts';
import {
  closePools,
  openHealthPool,
  openListPool,
  openPools,
  type Part,
  type Pools,
  REQUEST_STATEMENT_MS,
  turnsOfMerchants,
} from './pools.ts';

/** What a process needs to run: where the database and Temporal are, and the keys it may know. */
export type ProcessEnvironment = {
  readonly databaseUrl: string;
  /** Undefined for a command that runs without Temporal. */
  readonly temporal: TemporalPlace | undefined;
  readonly xpubs: Readonly<Record<Mode, AccountXpubs>>;
  readonly secretsKey: Uint8Array;
};

type OpenChains = ReadonlyMap<Network, OpenChain>;
/** Our own addresses that pay the chains' fees, where a wallet file names them. */

/** The wired gateway of one process. `close` gives pools and connections back. */
export type Gateway = {
  readonly config: Config;
  readonly log: Logger;
  readonly deps: Deps;
  /**
   * Connections of the API and of a worker's start: those of `deps`, unless health and metrics
   * see the gateway with connections of their own.
   */
  readonly mainOrm: Orm;
  /** Connections of the parts of a worker, each its own; undefined in a process that is no worker. */
  readonly pools: Pools | undefined;
  /** Connections of health and metrics; undefined in a process that serves neither. */
  readonly healthOrm: Orm | undefined;
  /** Connections of the API's lists; undefined in a process without an API. */
  readonly listOrm: Orm | undefined;
  readonly link: TemporalLink | undefined;
  /** The chains that are watched. */
  readonly chains: OpenChains;
  readonly metrics: Metrics;
  close(): Promise<void>;
};

/** A watcher asks its endpoints more often than this. */
const ANSWERED_WITHIN_MS = 5_000;
/** Hundreds of blocks; a public chain that stands still for this long is in the news. */
const HEAD_MOVES_WITHIN_MS = 5 * 60_000;

/**
 * Wires services, database, prices and Temporal from the configuration. Connects to
 * nothing yet, so it fails only because of a defect.
 */
export async function composeGateway(input: {
  config: Config;
  environment: ProcessEnvironment;
  log: Logger;
  name: string;
  poolSize: number;
  /**
   * True for a worker: each of its parts gets connections of its own, beside `poolSize` for everything else.
   */
  works?: boolean;
  /** True for a process that serves health and metrics: they get connections of their own. */
  observed?: boolean;
  /**
   * True for a process that serves the API: its lists get connections of their own, and
   * no statement takes longer than a request may.
   */
  serves?: boolean;
}): Promise<Gateway> {
  const { config, environment, log } = input;
  const orm = await openOrm({
    url: environment.databaseUrl,
    poolSize: input.poolSize,
    applicationName: `gateway ${input.name}`,
    ...(input.serves
      ? { statementTimeoutMs: REQUEST_STATEMENT_MS, turns: turnsOfMerchants(input.poolSize) }
      : {}),
  });
  const listOrm = input.serves ? await openListPool(environment.databaseUrl, input.name) : undefined;
  const pools = input.works ? await openPools(environment.databaseUrl, input.name) : undefined;
  const healthOrm = input.observed ? await openHealthPool(environment.databaseUrl, input.name) : undefined;
  const link = environment.temporal ? linkTemporal(environment.temporal) : undefined;
  const chains = await open(config, log);
  const metrics = createMetrics({ defaults: true });
  beginAtZero(metrics, [...chains.keys()]);
  const prices = createPriceSource(config.prices.source, {
    chain: openedPriceChain(config.chains, chains),
    now: () => new Date(),
    maxAgeMs: config.prices.maxAgeMs,
    report: (message) => log.warn({ component: 'prices' }, message),
  });
  const deps: Deps = {
    orm,
    log,
    now: () => new Date(),
    storedNow: databaseTime,
    newId: () => randomUUID(),
    settings: settingsOf(config),
    secretBox: createSecretBox(environment.secretsKey, config.previousSecretsKey),
    xpubs: environment.xpubs,
    prices,
    actors: link?.actors,
  };
  for (const [network, { requests }] of chains)
    requests?.sharedBy(requestsIn({ orm: healthOrm ?? orm }, network));
  knowOutside({ log, orm: healthOrm ?? orm, link, environment, chains });
  const close = async (): Promise<void> => {
    await orm.close(true);
    if (pools) await closePools(pools);
    await healthOrm?.close(true);
    await listOrm?.close(true);
    await link?.close();
  };
  return { config, log, deps, mainOrm: orm, pools, healthOrm, listOrm, link, chains, metrics, close };
}

type Outside = Pick<Gateway, 'log' | 'link' | 'chains'> & {
  readonly orm: Orm;
  readonly environment: ProcessEnvironment;
};

/** Tells the log how parts outside are called, and how each is seen to be back after an outage. */
function knowOutside({ log, orm, link, environment, chains }: Outside): void {
  const outages = outagesOf(log);
  const { host } = new URL(environment.databaseUrl);
  outages?.know('PostgreSQL', {
    name: `PostgreSQL at ${host}`,
    probe: () => requireWrites(orm.em.fork()),
  });
  if (link)
    outages?.know('Temporal', {
      name: `Temporal at ${environment.temporal?.address}`,
      probe: () => link.ping(),
    });
  for (const [network, chain] of chains)
    outages?.know('RPC endpoints', { probe: async () => requireAnEndpoint(chain) }, network);
}

function requireAnEndpoint(chain: OpenChain): void {
  const isThere = chain
    .endpoints()
    .some(
      ({ problem, toldMsAgo }) => problem === null && toldMsAgo !== null && toldMsAgo < ANSWERED_WITHIN_MS,
    );
  if (!isThere) throw new Error('no endpoint answers');
}

/** Opens the configured chains; what happens to them is logged. */
async function open({ chains }: Config, log: Logger): Promise<OpenChains> {
  const rpc = componentLogger(log, 'rpc');
  return await openChains(chains, {
    onEndpoint: (message) => rpc.warn({}, message),
    onRead: (message) => log.info({ component: 'chain' }, message),
  });
}

/** The deps of one part of a worker, with the connections that are its own. */
export function depsOf({ deps, pools }: Pick<Gateway, 'deps' | 'pools'>, part: Part): Deps {
  return pools ? { ...deps, orm: pools[part] } : deps;
}

/** The gateway as health and metrics use it, which take no connection from anything else. */
export function observedBy(gateway: Gateway): Gateway {
  const { deps, healthOrm } = gateway;
  return healthOrm ? { ...gateway, deps: { ...deps, orm: healthOrm } } : gateway;
}

/** The part of the configuration that the services read. */
export function settingsOf(config: Config): ServiceSettings {
  const chains: Readonly<Record<Network, ChainSettings>> = config.chains;
  return {
    requiredConfirmations: byNetwork(({ network }) => chains[network].confirmations),
    contracts: byNetwork(({ network }) => chains[network].usdtContract),
    chainIds: byNetwork(({ network }) => chains[network].chainId),
    explorerUrls: byNetwork(({ network }) => chains[network].explorerUrl),
    minDepositUnits: thresholds(config.payments.minDepositUnits),
    dustFloorUnits: thresholds(config.payments.dustFloorUnits),
    stuckAfterMs: config.stuckAfterMs,
    webhookMaxAttempts: config.webhooks.maxAttempts,
    webhookRetentionMs: config.webhooks.retentionMs,
    webhookTarget: config.webhooks.target,
    blockIntervalMs: byNetwork(({ blockMs }) => blockMs),
    comparedEveryMs: byNetwork(({ comparedEveryMs }) => comparedEveryMs),
    headMovesWithinMs: config.production ? HEAD_MOVES_WITHIN_MS : undefined,
    payments: {
      minimumCents: config.payments.minPaymentCents,
      toleranceBasisPoints: config.payments.toleranceBasisPoints,
      watchedNetworks: watchedChains(config.chains).map(({ network }) => network),
    },
    payouts: {
      networks: watchedChains(config.chains)
        .filter(({ paysOut }) => paysOut)
        .map(({ network }) => network),
      minUnits: thresholds(config.settlement.minUnits),
      everyMs: config.settlement.everyMs,
      maxFeeBasisPoints: config.settlement.maxFeeBasisPoints,
    },
    sessions: config.sessions,
    withdrawChangeDelayMs: config.settlement.withdrawChangeDelayMs,
  };
}

function thresholds(table: Config['payments']['minDepositUnits']): ReadonlyMap<string, bigint> {
  const units = new Map<string, bigint>();
  for (const { network, currency } of ASSETS) {
    const least = thresholdUnits(table, network, currency);
    if (least !== undefined) units.set(`${currency}.${network}`, least);
  }
  return units;
}

/** What the activities of a worker need beyond the services: the transport of webhooks and the chains. */
export function activityDepsOf(gateway: Gateway, stopping: AbortSignal): ActivityDeps {
  const { deps } = gateway;
  const transport = createWebhookTransport({
    lookup: createLookup({ useSystem: deps.settings.webhookTarget.allowedCidrs.length > 0 }),
    policy: deps.settings.webhookTarget,
    now: () => performance.now(),
  });
  return {
    ...deps,
    orms: gateway.pools,
    transport: observeTransport(transport, gateway.metrics),
    slots: createDeliverySlots(),
    deliveryReport: observeDeliveries(gateway.metrics),
    chains: chainsOf(gateway),
    firstBlockSince,
    stopping,
  };
}

function chainsOf({ chains, metrics }: Gateway): Map<string, WatchedChain> {
  const report = observeChain(metrics);
  return new Map(
    Array.from(chains, ([network, { reader, spending }]) => {
      const watched = { network, index: new AddressSet(), loadedXid: '0' };
      return [network, { reader, watched, report, spending }];
    }),
  );
}
