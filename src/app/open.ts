import { openDataDir } from '../base/data-dir.ts';
import { OperatorError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Shutdown } from '../base/shutdown.ts';
import { deriveAddresses } from '../chains/addresses.ts';
import { CHAINS } from '../chains/index.ts';
import { ChainMismatch } from '../chains/rpc/errors.ts';
import type { Config } from '../config/index.ts';
import { MODES, type Network } from '../domain/assets.ts';
import { requireKeyInUse } from '../services/secrets/key-in-use.ts';
import { proveIdentity } from '../services/watcher/cursor.ts';
import type { TemporalPlace } from '../temporal/place.ts';
import { composeGateway, type Gateway } from './compose.ts';
import { migrate, requireCurrentSchema } from './migrate.ts';
import { locateDatabase, locateKeys, locateTemporal } from './process.ts';

const IDENTITY_WITHIN_MS = 10_000;

/** What a role that needs the stores asks for in its process. */
export type Wanted = {
  readonly name: string;
  /**
   * Connections of the API and of a worker's start; those of a worker's parts, of
   * lists, and of health and metrics come on top.
   */
  readonly poolSize: number;
  readonly works: boolean;
  readonly serves: boolean;
  /** True to start the servers that are not configured, under a data folder of its own. */
  readonly embeds?: boolean;
  /**
   * True to bring the schema up to date itself outside production; in
   * production `migrate` is a step of its own.
   */
  readonly migrates?: boolean;
};

/** A wired gateway whose stores were found and whose schema and chains are the right ones. */
export type OpenedGateway = {
  readonly gateway: Gateway;
  readonly databaseUrl: string;
  readonly temporal: TemporalPlace;
  readonly temporalUi: string | null;
  /** Our own addresses that pay the chains' fees. */
  readonly gas: Readonly<Partial<Record<Network, string>>>;
};

/**
 * Opens everything that a role needs, in order, and registers how each part is closed. Throws OperatorError
 * where a part is missing or is not what is configured; an endpoint that is unreachable is waited for later.
 */
export async function openGateway(
  { config, log, shutdown }: { readonly config: Config; readonly log: Logger; readonly shutdown: Shutdown },
  { name, poolSize, works, serves, embeds = false, migrates = false }: Wanted,
): Promise<OpenedGateway> {
  if (embeds) {
    const dataDir = await openDataDir(config.dataDir, (line) => log.info({ component: 'data' }, line));
    shutdown.add('data folder', () => dataDir.release());
  }
  const { xpubs, secretsKey, gas } = await locateKeys(config, log);
  // The first derivation takes as long as twenty later ones: callers are not to wait in line behind it.
  if (serves) for (const mode of MODES) deriveAddresses(xpubs[mode], 0);
  const database = await locateDatabase(config, log, embeds);
  if (database.embedded) shutdown.add('PostgreSQL', () => database.embedded?.stop());
  const temporal = await locateTemporal(config, log, embeds);
  if (temporal.embedded) shutdown.add('Temporal', () => temporal.embedded?.stop());
  const environment = { databaseUrl: database.url, temporal: temporal.place, xpubs, secretsKey };
  const gateway = await composeGateway({
    config,
    environment,
    log,
    name,
    poolSize,
    works,
    serves,
    observed: true,
  });
  shutdown.add('connections', () => gateway.close());
  await prepareSchema(gateway, migrates && !config.production);
  await checkChains(gateway);
  return { gateway, databaseUrl: database.url, temporal: temporal.place, temporalUi: temporal.uiUrl, gas };
}

async function prepareSchema(gateway: Gateway, migrates: boolean): Promise<void> {
  try {
    await (migrates ? migrate : requireCurrentSchema)(gateway.deps.orm);
    await requireKeyInUse(gateway.deps);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(
      `The database cannot be used: ${reason}`,
      'Check DATABASE_URL and that PostgreSQL runs, then start again',
      {
        cause: error,
      },
    );
  }
}

/** Throws for a wrong chain or token; an endpoint that is unreachable is waited for later. */
async function checkChains({ chains, deps, log }: Gateway): Promise<void> {
  for (const { network, name, watchedBy, identifiedBy } of CHAINS) {
    const chain = chains.get(network);
    if (!chain) {
      log.warn(
        { network },
        `${watchedBy} is not set: addresses on ${name} are made but not watched; nothing is lost when it is set later`,
      );
      continue;
    }
    try {
      await proveIdentity(deps, chain.reader, AbortSignal.timeout(IDENTITY_WITHIN_MS));
    } catch (error) {
      if (error instanceof ChainMismatch)
        throw new OperatorError(error.message, `Correct ${identifiedBy} and start again`, { cause: error });
      log.warn({ err: error, network }, 'the chain could not be checked yet; the watcher waits for it');
    }
  }
}
