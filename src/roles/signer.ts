import { existsSync } from 'node:fs';
import { OperatorError } from '../base/errors.ts';
import { openWallet, readPassphraseFile } from '../signer/wallet-file.ts';
import type { Started, Starting } from './role.ts';

const AWAKE_EVERY_MS = 60_000;

/**
 * Opens the seed and waits: it has nothing to sign before there are payouts. It proves at the start that its
 * files can be opened, and throws OperatorError where they cannot. It has no database, no Temporal and no
 * port, so only a timer that does nothing keeps the process alive until it is told to stop.
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
  shutdown.add('signer', () => clearInterval(awake));
  return { api: null, ops: null, temporalUi: null };
}
