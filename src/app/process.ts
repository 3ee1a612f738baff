import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRun } from '../base/data-dir.ts';
import { OperatorError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { AccountXpubs } from '../chains/account-xpubs.ts';
import { byNetwork } from '../chains/index.ts';
import type { Config } from '../config/index.ts';
import { byMode, MODES, type Mode, NETWORKS, type Network } from '../domain/assets.ts';
import { ensureDevelopmentWallet, ensureSecretsKey } from '../signer/development-keys.ts';
import { readPublicParts, resolveAccountXpubs } from '../signer/wallet-file.ts';
import type { TemporalPlace } from '../temporal/place.ts';
import type { ProcessEnvironment } from './compose.ts';

/** An embedded server that this process started and has to stop. */
export type Embedded = { stop(): Promise<void> };
export type Located = { readonly url: string; readonly embedded?: Embedded };

/**
 * The database of this process: the configured one, else the one of the gateway that runs over the same
 * data folder, else one that is started under it now. `mayStart` is false for roles that only attach.
 */
export async function locateDatabase(config: Config, log: Logger, mayStart: boolean): Promise<Located> {
  if (config.database.kind === 'url') return { url: config.database.url };
  const run = readRun(config.dataDir);
  if (run) return { url: run.databaseUrl };
  if (!mayStart) throw nothingRuns(config, 'DATABASE_URL');
  const { startPostgres } = await import('../embedded/postgres.ts');
  const postgres = await startPostgres({
    dataDir: config.dataDir,
    log: (line) => log.info({ component: 'postgres' }, line),
  });
  log.info(
    { component: 'postgres', port: postgres.port },
    'DATABASE_URL is not set: using an embedded PostgreSQL under DATA_DIR',
  );
  return { url: postgres.url, embedded: postgres };
}

export type LocatedTemporal = {
  readonly place: TemporalPlace;
  readonly uiUrl: string | null;
  readonly embedded?: Embedded;
};

/** Temporal for this process, found in the same order as in {@link locateDatabase}. */
export async function locateTemporal(
  config: Config,
  log: Logger,
  mayStart: boolean,
): Promise<LocatedTemporal> {
  const { namespace } = config.temporal;
  if (config.temporal.kind === 'address') {
    const { address, tls, apiKey } = config.temporal;
    return { place: { address, namespace, tls, apiKey }, uiUrl: config.temporal.uiUrl ?? null };
  }
  const run = readRun(config.dataDir);
  if (run) return { place: { address: run.temporalAddress, namespace }, uiUrl: run.temporalUi };
  if (!mayStart) throw nothingRuns(config, 'TEMPORAL_ADDRESS');
  const { startTemporal } = await import('../embedded/temporal.ts');
  const env = config.temporal.cliPath
    ? { ...process.env, TEMPORAL_CLI: config.temporal.cliPath }
    : process.env;
  const temporal = await startTemporal({
    dataDir: config.dataDir,
    namespace,
    env,
    log: (line) => log.info({ component: 'temporal' }, line),
  });
  log.info(
    { component: 'temporal', address: temporal.address },
    'TEMPORAL_ADDRESS is not set: using an embedded Temporal server under DATA_DIR',
  );
  return { place: { address: temporal.address, namespace }, uiUrl: temporal.uiUrl, embedded: temporal };
}

function nothingRuns(config: Config, variable: string): OperatorError {
  return new OperatorError(
    `${variable} is not set and no gateway runs over ${config.dataDir}`,
    `Set ${variable}, or run "gateway start" first`,
  );
}

/**
 * The keys a process may know: account xpubs, the key of stored secrets,
 * and the gas wallets' addresses where a wallet file is at hand.
 */
export async function locateKeys(
  config: Config,
  log: Logger,
): Promise<Pick<ProcessEnvironment, 'xpubs' | 'secretsKey'> & { gas: Partial<Record<Network, string>> }> {
  const secretsKey = await locateSecretsKey(config, log);
  const xpubs = config.production
    ? await resolveAccountXpubs(config.wallet)
    : await developmentXpubs(config, log);
  const gas = existsSync(config.wallet.seedFile) ? (await readPublicParts(config.wallet.seedFile)).gas : {};
  return { xpubs, secretsKey, gas };
}

/** The key of stored secrets. Outside production a missing one is made under the data folder. */
export async function locateSecretsKey(config: Config, log: Logger): Promise<Uint8Array> {
  const key =
    config.secretsKey ??
    (config.production ? undefined : await ensureSecretsKey({ dataDir: config.dataDir, log }));
  if (key) return key;
  throw new OperatorError(
    'SECRETS_KEY is not set',
    'Set it to 32 random bytes, for example from "openssl rand -base64 32"',
  );
}

/**
 * Outside production the missing xpubs are made. Where some xpubs are given, the rest come from
 * a wallet of their own, so that the two never mix.
 */
async function developmentXpubs(config: Config, log: Logger): Promise<Readonly<Record<Mode, AccountXpubs>>> {
  const { seedFile, passphraseFile, xpubs } = config.wallet;
  const given = MODES.flatMap((mode) => NETWORKS.map((network) => xpubs[mode][network]));
  if (given.every((xpub) => xpub !== undefined)) return await resolveAccountXpubs(config.wallet);
  if (given.every((xpub) => xpub === undefined) || existsSync(seedFile)) {
    await ensureDevelopmentWallet({ log, seedFile, passphraseFile });
    return await resolveAccountXpubs(config.wallet);
  }
  const rest = {
    seedFile: join(config.dataDir, 'wallet.rest.json'),
    passphraseFile: join(config.dataDir, 'wallet.rest.passphrase'),
  };
  const { xpub } = await ensureDevelopmentWallet({ log, ...rest });
  return byMode((mode) => byNetwork(({ network }) => xpubs[mode][network] ?? xpub[mode][network]));
}
