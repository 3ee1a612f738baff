// A signer beside a running gateway, with the wallet whose addresses the gateway gives to its customers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiveMoney } from '../../dev/support/live-money.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { TEST_PHRASE } from '../../dev/support/test-wallet.ts';
import { createLogger } from '../../src/base/log.ts';
import { CHAINS } from '../../src/chains/index.ts';
import type { Transfers } from '../../src/chains/transfer.ts';
import type { Network } from '../../src/domain/assets.ts';
import { publishGasWallets } from '../../src/services/payouts/gas.ts';
import { runSigner } from '../../src/signer/pull/loop.ts';
import { createWallet, readPublicParts } from '../../src/signer/wallet-file.ts';

export const PASSPHRASE = 'the passphrase of a test';

/** Tells the gas wallets and signs what rows ask for, until it is stopped. A passphrase may be wrong. */
export async function startLiveSigner({ gateway }: LiveMoney, { passphrase = PASSPHRASE } = {}) {
  const folder = await tempDir('live-signer');
  const at = (name: string): string => join(folder, name);
  const files = {
    seedFile: at('wallet'),
    passphraseFile: at('passphrase'),
    journalFile: at('journal'),
  };
  const setPassphrase = (text: string): void =>
    writeFileSync(files.passphraseFile, `${text}\n`, { mode: 0o600 });
  setPassphrase(passphrase);
  await createWallet({ file: files.seedFile, passphrase: PASSPHRASE, phrase: TEST_PHRASE, now: new Date() });
  const { orm, now, secretBox } = gateway.deps;
  await publishGasWallets(gateway.deps, (await readPublicParts(files.seedFile)).gas);
  const { chains } = gateway.gateway.config;
  const transfers = CHAINS.map(
    async (chain): Promise<[Network, Transfers]> => [
      chain.network,
      await chain.transfers(chains[chain.network]),
    ],
  );
  const abort = new AbortController();
  const done = runSigner(
    {
      orm,
      now,
      ...files,
      log: createLogger({ level: 'error' }),
      keys: [secretBox],
      transfers: Object.fromEntries(await Promise.all(transfers)) as Record<Network, Transfers>,
      limits: { perHour: () => undefined, perDay: () => undefined },
      newDestinationAfterMs: 0,
      resumeAfterMs: 0,
      idle: false,
      pollMs: 100,
      retryMs: 100,
    },
    abort.signal,
  );
  return {
    journalFile: files.journalFile,
    setPassphrase,
    stop: async (): Promise<void> => {
      abort.abort(new Error('the test stops the signer'));
      await done;
    },
  };
}
