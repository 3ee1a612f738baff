import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';
import type { PublicParts } from './wallet-file.ts';
import { createWallet, readPassphraseFile, readPublicParts } from './wallet-file.ts';

/**
 * Outside production: makes the passphrase and then the seed under `dataDir` where they are missing, and says
 * so. Safe to call from two processes and again after a crash at any point: existing files are used and never
 * replaced. Throws an OperatorError when there is a seed without its passphrase.
 */
export async function ensureDevelopmentWallet(input: {
  readonly dataDir: string;
  readonly log: Logger;
  readonly seedFile?: string;
  readonly passphraseFile?: string;
  readonly now?: Date;
}): Promise<{ publicParts: PublicParts; seedFile: string; passphraseFile: string; created: boolean }> {
  const seedFile = input.seedFile ?? join(input.dataDir, 'wallet.json');
  const passphraseFile = input.passphraseFile ?? join(input.dataDir, 'wallet.passphrase');
  const hasSeed = existsSync(seedFile);
  if (hasSeed && !existsSync(passphraseFile)) {
    throw new OperatorError(
      `There is a wallet at ${seedFile} but no passphrase at ${passphraseFile}`,
      'Put its passphrase there, or move the wallet away to have a new one made',
    );
  }
  if (!hasSeed) {
    await writePrivateFile(passphraseFile, `${randomBytes(32).toString('base64url')}\n`, { replace: false });
    const { passphrase } = await readPassphraseFile(passphraseFile);
    const created = await createUnlessPresent(seedFile, passphrase, input.now ?? new Date());
    if (created)
      input.log.warn(
        { seedFile, passphraseFile },
        'made a wallet for development: its passphrase lies beside it, so never send real money to its addresses',
      );
    return { publicParts: await readPublicParts(seedFile), seedFile, passphraseFile, created };
  }
  return { publicParts: await readPublicParts(seedFile), seedFile, passphraseFile, created: false };
}

/**
 * Outside production: the secrets key under `dataDir`, made where
 * it is missing. 32 bytes. Safe to call from two processes at once.
 */
export async function ensureSecretsKey(input: {
  readonly dataDir: string;
  readonly log: Logger;
}): Promise<Uint8Array> {
  const file = join(input.dataDir, 'secrets.key');
  if (!existsSync(file)) {
    const created = await writePrivateFile(file, `${randomBytes(32).toString('base64')}\n`, {
      replace: false,
    });
    if (created) input.log.warn({ file }, 'made a key for stored secrets, for development');
  }
  const { text } = await readPrivateFile(file, 'the secrets key file');
  const key = /^[A-Za-z0-9+/]{43}=\n?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
  if (key?.length !== 32)
    throw new OperatorError(
      `${file} does not hold 32 bytes in base64`,
      'Restore it, or remove it together with the development database',
    );
  return new Uint8Array(key);
}

async function createUnlessPresent(file: string, passphrase: string, now: Date): Promise<boolean> {
  try {
    await createWallet({ file, passphrase, now });
    return true;
  } catch (error) {
    // Another process won the race with the same passphrase file: its wallet will do as well.
    if (error instanceof OperatorError && existsSync(file)) return false;
    throw error;
  }
}
