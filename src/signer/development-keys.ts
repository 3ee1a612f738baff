// What a gateway for development makes where it is missing.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { PublicParts } from './accounts.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';
import { createWallet, readPassphraseFile, readPublicParts } from './wallet-file.ts';

/**
 * Outside production: makes the passphrase and then the seed where they are missing, and says so. Safe to
 * call from two processes and again after a crash at any point: existing files are used and never replaced.
 * Throws an OperatorError when there is a seed without its passphrase.
 */
export async function ensureDevelopmentWallet(input: {
  readonly log: Logger;
  readonly seedFile: string;
  readonly passphraseFile: string;
}): Promise<PublicParts> {
  const { seedFile, passphraseFile, log } = input;
  const hasSeed = existsSync(seedFile);
  if (hasSeed && !existsSync(passphraseFile))
    throw new OperatorError(
      `There is a wallet at ${seedFile} but no passphrase at ${passphraseFile}`,
      'Put its passphrase there, or move the wallet away to have a new one made',
    );
  if (!hasSeed) {
    await writePrivateFile(passphraseFile, `${randomBytes(32).toString('base64url')}\n`, { replace: false });
    const { passphrase } = await readPassphraseFile(passphraseFile);
    try {
      await createWallet({ file: seedFile, passphrase, now: new Date() });
      log.warn(
        { seedFile, passphraseFile },
        'made a wallet for development: its passphrase lies beside it, so never send real money to its addresses',
      );
    } catch (error) {
      // Another process won the race with the same passphrase file: its wallet will do as well.
      if (!(error instanceof OperatorError && existsSync(seedFile))) throw error;
    }
  }
  return await readPublicParts(seedFile);
}

/** Outside production: the secrets key under `dataDir`, 32 bytes, made where it is missing, once. */
export async function ensureSecretsKey(input: {
  readonly dataDir: string;
  readonly log: Logger;
}): Promise<Uint8Array> {
  const file = join(input.dataDir, 'secrets.key');
  const made = () => writePrivateFile(file, `${randomBytes(32).toString('base64')}\n`, { replace: false });
  if (!existsSync(file) && (await made()))
    input.log.warn({ file }, 'made a key for stored secrets, for development');
  const { text } = await readPrivateFile(file, 'the secrets key file');
  const key = /^[A-Za-z0-9+/]{43}=\n?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
  if (key?.length === 32) return new Uint8Array(key);
  throw new OperatorError(
    `${file} does not hold 32 bytes in base64`,
    'Restore it, or remove it together with the development database',
  );
}
