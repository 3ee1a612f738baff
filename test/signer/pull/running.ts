// A signer that runs in this process, over files of its own.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { CHAINS } from '../../../src/chains/index.ts';
import type { Transfers } from '../../../src/chains/transfer.ts';
import { loadConfig } from '../../../src/config/index.ts';
import type { Network } from '../../../src/domain/assets.ts';
import type { SignerDeps } from '../../../src/signer/pull/loop.ts';
import { createWallet } from '../../../src/signer/wallet-file.ts';

export const PASSPHRASE = 'a passphrase that is nowhere else: 7f3a';

const wallets = new Map<string, Promise<Buffer>>();
/** Each wallet that is encrypted costs a second of work, so that all stages have the same. */
async function encrypted(phrase: string): Promise<Buffer> {
  const file = join(await tempDir('wallet'), 'wallet.json');
  await createWallet({ file, passphrase: PASSPHRASE, phrase, now: new Date() });
  return readFileSync(file);
}

/** The wallet of this phrase with its passphrase, and a place for a journal, in a folder of their own. */
export async function signerFiles(phrase: string) {
  const folder = await tempDir('signer');
  const [seedFile, passphraseFile, journalFile] = ['wallet.json', 'passphrase', 'journal'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const wallet = wallets.get(phrase) ?? encrypted(phrase);
  wallets.set(phrase, wallet);
  writeFileSync(seedFile, await wallet, { mode: 0o600 });
  writeFileSync(passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 });
  return { folder, seedFile, passphraseFile, journalFile };
}

const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

/** A signer without limits that is never idle. */
export async function signerDeps(
  over: Pick<SignerDeps, 'orm' | 'seedFile' | 'passphraseFile' | 'journalFile'>,
  change: Partial<SignerDeps> = {},
): Promise<SignerDeps> {
  return {
    ...over,
    log: silent as unknown as SignerDeps['log'],
    now: () => new Date(),
    keys: [createSecretBox(SECRETS_KEY)],
    transfers: change.transfers ?? (await testTransfers()),
    limits: { perHour: () => undefined, perDay: () => undefined },
    newDestinationAfterMs: 0,
    resumeAfterMs: 0,
    idle: false,
    pollMs: 50,
    retryMs: 50,
    ...change,
  };
}

/** How transfers are built with nothing but defaults configured. */
export async function testTransfers(env: NodeJS.ProcessEnv = {}): Promise<Record<Network, Transfers>> {
  const config = loadConfig(env, { role: 'none' });
  const all = CHAINS.map(async (chain) => [
    chain.network,
    await chain.transfers(config.chains[chain.network]),
  ]);
  return Object.fromEntries(await Promise.all(all));
}
