import { randomBytes } from 'node:crypto';
import { composeGateway, type Gateway } from '../app/compose.ts';
import { migrate, requireCurrentSchema } from '../app/migrate.ts';
import { locateDatabase, locateSecretsKey, locateTemporal } from '../app/process.ts';
import { pause } from '../base/async/pause.ts';
import { type DataDir, openDataDir, readRun } from '../base/data-dir.ts';
import { InUse, OperatorError } from '../base/errors.ts';
import { createLogger, type Logger } from '../base/log.ts';
import { reasonOf } from '../base/reason.ts';
import { byNetwork } from '../chains/index.ts';
import { chainVariables } from '../config/attached.ts';
import { type Config, type ConfigRole, loadConfig } from '../config/index.ts';
import { VARIABLES } from '../config/variables/index.ts';
import { run, sql } from '../db/sql.ts';
import { byMode } from '../domain/assets.ts';
import type { Deps } from '../services/deps.ts';
import { requireKeyInUse } from '../services/secrets/key-in-use.ts';
import type { TemporalLink } from '../temporal/client.ts';
import type { TemporalPlace } from '../temporal/place.ts';
import { operatorOf } from './operator.ts';
import { reachTemporal } from './reach.ts';
import { progress } from './run.ts';
import { terminal } from './terminal.ts';

/** What a command needs besides the database. */
export type Needs = {
  /**
   * `required`: refuses when no Temporal answers. `attached`: uses one if there is any. Unset
   * means that the outbox carries what has to be started.
   */
  readonly temporal?: 'required' | 'attached';
  /** False only for the command that brings the schema up to date. */
  readonly currentSchema?: boolean;
  /** Who acts: the name that the operator gives, else the name of their login. */
  readonly by?: string | undefined;
  /**
   * True for a command that seals or opens stored secrets, so that it needs the key of the gateway; `if_set`
   * for one that does so only where SECRETS_KEY is set.
   */
  readonly secrets?: true | 'if_set';
};

export type Attached = {
  readonly place: TemporalPlace;
  readonly link: TemporalLink;
  readonly uiUrl: string | null;
};
export type CommandGateway = Gateway & {
  readonly temporal: Attached | undefined;
  /** Whether secrets can be sealed and opened. */
  readonly holdsKey?: boolean;
};

const POOL_SIZE = 4;
const WAIT_FOR_FOLDER_MS = 15_000;
const POLL_MS = 200;

/**
 * The configuration and a logger that only warns, unless LOG_LEVEL is set: a command prints its own messages.
 */
export function commandConfig(role: ConfigRole): { config: Config; log: Logger } {
  const { env: given, log: destination } = terminal();
  const env = besideRunning(given);
  const config = loadConfig(env, { role });
  return {
    config,
    log: createLogger({
      level: env['LOG_LEVEL'] ? config.logLevel : 'warn',
      format: config.logFormat,
      ...(destination && { destination }),
    }),
  };
}

/**
 * The environment of a command, with how the gateway over its data folder reads chains and prices, where
 * itself says nothing of that and of no other database.
 */
export function besideRunning(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = env['DATABASE_URL'] || env['DATABASE_URL_FILE'] || Object.keys(chainVariables(env))[0];
  return own ? env : { ...env, ...readRun(env['DATA_DIR'] || VARIABLES.DATA_DIR.default)?.variables };
}

/**
 * Runs `work` on a wired gateway and releases everything afterwards, whatever happens. It attaches to the
 * configured database or to the gateway that runs over DATA_DIR, else starts an embedded PostgreSQL for this
 * run alone. Throws an OperatorError when none of these can be had.
 */
export async function withGateway<T>(
  needs: Needs,
  work: (gateway: CommandGateway) => Promise<T>,
): Promise<T> {
  const { config, log } = commandConfig('tool');
  const database = await openDatabase(config, log);
  try {
    const temporal = needs.temporal ? await locateAttached(config, log, needs.temporal) : undefined;
    const holdsKey =
      needs.secrets === true || (needs.secrets === 'if_set' && config.secretsKey !== undefined);
    const secretsKey = holdsKey ? await locateSecretsKey(config, log) : randomBytes(32);
    const environment = { databaseUrl: database.url, temporal: temporal?.place, xpubs: NO_XPUBS, secretsKey };
    const gateway = await composeGateway({ config, environment, log, name: 'cli', poolSize: POOL_SIZE });
    try {
      await requireDatabase(gateway.deps);
      if (needs.currentSchema !== false)
        await (database.alone ? migrate : requireCurrentSchema)(gateway.deps.orm);
      if (needs.secrets === true) await requireKeyInUse(gateway.deps);
      const attached = gateway.link && temporal ? { ...temporal, link: gateway.link } : undefined;
      if (needs.temporal === 'required' && attached) await requireTemporal(attached);
      // Starts that follow a commit are left to the outbox of a
      // worker: here they would race with the end of this process.
      const actors = needs.temporal === 'required' ? gateway.deps.actors : undefined;
      const secretBox = holdsKey ? gateway.deps.secretBox : NO_BOX;
      const actor = operatorOf(needs.by);
      return await work({
        ...gateway,
        holdsKey,
        deps: { ...gateway.deps, actors, actor, secretBox },
        temporal: attached,
      });
    } finally {
      await gateway.close();
    }
  } finally {
    await database.close();
  }
}

/**
 * Most commands neither derive addresses nor touch stored secrets; one of them that tried would
 * have a defect, and must not work with made-up keys.
 */
const NO_BOX: Deps['secretBox'] = {
  seal: refuseKeys,
  open: refuseKeys,
  keyedHash: refuseKeys,
  mark: Buffer.alloc(0),
  knowsPrevious: false,
  previous: undefined,
};
const NO_XPUBS = byMode(() => byNetwork(() => ''));

function refuseKeys(): never {
  throw new Error('the command line holds no keys');
}

type Database = { readonly url: string; readonly alone: boolean; close(): Promise<void> };

/**
 * The database of a command: the configured one, that of the gateway that runs over DATA_DIR, or one that is
 * started. Holds the data folder while it runs a server of its own, and
 * waits for another command or a gateway that is just starting.
 */
export async function openDatabase(config: Config, log: Logger): Promise<Database> {
  if (config.database.kind === 'url')
    return { url: config.database.url, alone: false, close: async () => undefined };
  const found = await runOrFolder(config, log);
  if ('databaseUrl' in found) return { url: found.databaseUrl, alone: false, close: async () => undefined };
  try {
    progress(`Starting PostgreSQL over ${config.dataDir} for this command…`);
    const located = await locateDatabase(config, log, true);
    const close = async (): Promise<void> => {
      await located.embedded?.stop();
      found.release();
    };
    return { url: located.url, alone: true, close };
  } catch (error) {
    found.release();
    throw error;
  }
}

async function runOrFolder(config: Config, log: Logger): Promise<{ databaseUrl: string } | DataDir> {
  const until = Date.now() + WAIT_FOR_FOLDER_MS;
  for (;;) {
    const run = readRun(config.dataDir);
    if (run) return run;
    try {
      return await openDataDir(config.dataDir, (line) => log.info({ component: 'data' }, line));
    } catch (error) {
      if (!(error instanceof InUse) || Date.now() > until) throw folderRefused(error);
      await pause(POLL_MS);
    }
  }
}

function folderRefused(error: unknown): OperatorError {
  const message = error instanceof Error ? error.message : String(error);
  const action = 'Wait until the other one is ready, or set DATA_DIR or DATABASE_URL';
  return new OperatorError(`The data folder cannot be used: ${message}`, action, { cause: error });
}

async function requireDatabase({ orm }: Deps): Promise<void> {
  try {
    await run(orm.em.fork(), sql`select 1`);
  } catch (error) {
    throw new OperatorError(
      `The database does not answer: ${reasonOf(error)}`,
      'Check DATABASE_URL and that PostgreSQL runs',
      {
        cause: error,
      },
    );
  }
}

async function locateAttached(config: Config, log: Logger, need: 'required' | 'attached') {
  try {
    return await locateTemporal(config, log, false);
  } catch (error) {
    if (need === 'required') throw error;
    return undefined;
  }
}

/** Throws a sentence when Temporal does not answer within some seconds. */
export async function requireTemporal({ link, place }: Attached): Promise<void> {
  try {
    await reachTemporal(link, place);
  } catch (error) {
    throw new OperatorError(
      `Temporal at ${place.address} does not answer: ${reasonOf(error)}`,
      'Check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or run "gateway start" first',
      { cause: error },
    );
  }
}
