import { existsSync } from 'node:fs';
import { locateDatabase } from '../app/process.ts';
import { pause } from '../base/async/pause.ts';
import { OperatorError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { reasonOf } from '../base/reason.ts';
import type { Config } from '../config/index.ts';
import { openOrm } from '../db/orm.ts';
import type { Network } from '../domain/assets.ts';
import { publishGasWallets } from '../services/payouts/gas-wallets.ts';
import { openWallet, readPassphraseFile, readPublicParts } from '../signer/wallet-file.ts';
import type { Started, Starting } from './role.ts';

const AWAKE_EVERY_MS = 60_000;
const RETRY_MS = 5_000;

/**
 * Opens the seed, tells the other roles which wallets pay the chains' fees, and waits: it has nothing to sign
 * before there are payouts. It proves at the start that its files can be opened, and throws OperatorError
 * where they cannot. It has no Temporal and no port, and of the database it waits for as long as it takes.
 */
export async function startSigner({ config, log, shutdown }: Starting): Promise<Started> {
  const { seedFile, passphraseFile } = config.wallet;
  if (!existsSync(seedFile))
    throw new OperatorError(
      `There is no wallet at ${seedFile}`,
      'Make one with "gateway wallet new", or set WALLET_SEED_FILE',
    );
  const { passphrase } = await readPassphraseFile(passphraseFile);
  const wallet = await openWallet({ file: seedFile, passphrase });
  for (const warning of wallet.warnings) log.warn({ component: 'signer' }, warning);
  const awake = setInterval(() => undefined, AWAKE_EVERY_MS);
  const told = tellGasWallets(config, (await readPublicParts(seedFile)).gas, log, shutdown.signal);
  shutdown.add('signer', async () => {
    clearInterval(awake);
    await told;
  });
  return { api: null, ops: null, temporalUi: null };
}

/** Until it has worked: a top-up from a wallet that nobody was told of would look like a deposit. */
async function tellGasWallets(
  config: Config,
  gas: Readonly<Record<Network, string>>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  let said = '';
  while (!signal.aborted) {
    try {
      const { url } = await locateDatabase(config, log, false);
      const orm = await openOrm({ url, poolSize: 1, applicationName: 'gateway signer' });
      try {
        return await publishGasWallets({ orm, now: () => new Date() }, gas);
      } finally {
        await orm.close(true);
      }
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== said)
        log.warn(
          { component: 'signer', err: error },
          'the gas wallets could not be told to the other roles yet: see that PostgreSQL answers and that "gateway migrate" has run; it is tried again every 5 s',
        );
      said = reason;
    }
    await pause(RETRY_MS, signal).catch(() => undefined);
  }
}
