import { existsSync } from 'node:fs';
import { locateDatabase, locateSecretsKey } from '../app/process.ts';
import { pause } from '../base/async/pause.ts';
import { OperatorError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { reasonOf } from '../base/reason.ts';
import { createSecretBox } from '../base/secret-box.ts';
import { CHAINS } from '../chains/index.ts';
import type { Transfers } from '../chains/transfer.ts';
import { thresholdUnits } from '../config/index.ts';
import { type Orm, openOrm } from '../db/orm.ts';
import type { Network } from '../domain/assets.ts';
import { publishGasWallets } from '../services/payouts/gas.ts';
import { runSigner, type SignerDeps } from '../signer/pull/loop.ts';
import { readPublicParts } from '../signer/wallet-file.ts';
import type { Started, Starting } from './role.ts';

const RETRY_MS = 5_000;
const TELL_MS = 60_000;
/** One waits for news, one signs, and one says how the signer is. */
const POOL_SIZE = 3;

/**
 * Signs what rows ask for, over a connection to PostgreSQL and nothing else: no Temporal, no chain, no port.
 * Throws OperatorError where there is no wallet file. A wallet that does not open, a journal that is broken
 * and a database that is away are said, in its log and its row, and tried again.
 */
export async function startSigner({ config, log, shutdown }: Starting): Promise<Started> {
  const { seedFile } = config.wallet;
  if (!existsSync(seedFile))
    throw new OperatorError(
      `There is no wallet at ${seedFile}`,
      'Make one with "gateway wallet new", or set WALLET_SEED_FILE',
    );
  const secretsKey = await locateSecretsKey(config, log);
  const work = signWhile({ config, log, secretsKey }, shutdown.signal);
  shutdown.add('signer', () => work);
  return { api: null, ops: null, temporalUi: null };
}

type Keyed = Pick<Starting, 'config' | 'log'> & { readonly secretsKey: Uint8Array };

async function signWhile(keyed: Keyed, signal: AbortSignal): Promise<void> {
  const { config, log } = keyed;
  const orm = await insisting(log, signal, 'the database could not be opened yet', async () => {
    const { url } = await locateDatabase(config, log, false);
    return await openOrm({ url, poolSize: POOL_SIZE, applicationName: 'gateway signer' });
  });
  if (!orm) return;
  try {
    const telling = tellGasWallets(keyed, orm, signal);
    await runSigner(await signerDeps(keyed, orm), signal);
    await telling;
  } finally {
    await orm.close(true);
  }
}

/** It is told once a minute: another process, with another wallet file, may have told of its own since. */
async function tellGasWallets({ config, log }: Keyed, orm: Orm, signal: AbortSignal): Promise<void> {
  const problem = 'the gas wallets could not be told to the other roles yet';
  while (!signal.aborted) {
    await insisting(log, signal, problem, async () => {
      const { gas } = await readPublicParts(config.wallet.seedFile);
      await publishGasWallets({ orm, now: () => new Date() }, gas);
    });
    await pause(TELL_MS, signal).catch(() => undefined);
  }
}

/**
 * Signs within a gateway for development, over connections of its own. It opens neither wallet nor journal
 * before something is asked for.
 */
export async function signInside({ config, log, shutdown }: Starting, databaseUrl: string): Promise<void> {
  const secretsKey = await locateSecretsKey(config, log);
  const orm = await openOrm({ url: databaseUrl, poolSize: 2, applicationName: 'gateway signer' });
  const deps = await signerDeps({ config, log, secretsKey }, orm);
  const work = runSigner({ ...deps, idle: true }, shutdown.signal).finally(() => orm.close(true));
  shutdown.add('signer', () => work);
}

async function signerDeps({ config, log, secretsKey }: Keyed, orm: Orm): Promise<SignerDeps> {
  const box = createSecretBox(secretsKey, config.previousSecretsKey);
  const { newDestinationAfterMs, resumeAfterMs, journalFile, ...most } = config.signing;
  const transfers = await Promise.all(
    CHAINS.map(
      async (chain): Promise<[Network, Transfers]> => [
        chain.network,
        await chain.transfers(config.chains[chain.network]),
      ],
    ),
  );
  return {
    orm,
    log,
    now: () => new Date(),
    keys: box.previous ? [box, box.previous] : [box],
    transfers: Object.fromEntries(transfers) as Record<Network, Transfers>,
    limits: {
      perHour: ({ network, currency }) => thresholdUnits(most.maxPerHour, network, currency),
      perDay: ({ network, currency }) => thresholdUnits(most.maxPerDay, network, currency),
      perHourOfMerchant: ({ network, currency }) =>
        thresholdUnits(most.maxPerHourOfMerchant, network, currency),
      perDayOfMerchant: ({ network, currency }) =>
        thresholdUnits(most.maxPerDayOfMerchant, network, currency),
    },
    newDestinationAfterMs,
    resumeAfterMs,
    journalFile,
    seedFile: config.wallet.seedFile,
    passphraseFile: config.wallet.passphraseFile,
    idle: false,
  };
}

/** Until it has worked; undefined where the signal came first. Each reason is said once. */
async function insisting<T>(
  log: Logger,
  signal: AbortSignal,
  problem: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  let said = '';
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== said)
        log.warn(
          { component: 'signer', err: error },
          `${problem}: see that PostgreSQL answers, that "gateway migrate" has run and that the wallet file is there; it is tried again every 5 s`,
        );
      said = reason;
    }
    await pause(RETRY_MS, signal).catch(() => undefined);
  }
  return undefined;
}
