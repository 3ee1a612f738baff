import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { OperatorError } from '../../base/errors.ts';
import { xpubVariable } from '../../chains/account-xpubs.ts';
import { loadConfig } from '../../config/index.ts';
import { MODES, NETWORKS } from '../../domain/assets.ts';
import type { PublicParts } from '../../signer/accounts.ts';
import { writePrivateFile } from '../../signer/private-file.ts';
import {
  checkPhrase,
  createWallet,
  readPassphraseFile,
  readPublicParts,
  rotatePassphrase,
} from '../../signer/wallet-file.ts';
import { facts } from '../print.ts';
import { type CommandCall, progress } from '../run.ts';
import { readSecret } from '../stdin.ts';
import { terminal } from '../terminal.ts';

/** Works on the files of the wallet alone, without a database. */
export const WALLET = { makeNew, xpub, check, rotate };

const PHRASE = {
  name: 'phrase',
  maxBytes: 64 * 1024,
  nextAction: 'Give 12 to 24 words on one line',
} as const;

const PASSPHRASE = {
  name: 'new passphrase',
  maxBytes: 4096,
  nextAction: 'Give one line of 12 to 1,000 characters',
} as const;

const NOTE =
  'These words restore the wallet and are shown this once: write them on paper, then prove it with "gateway wallet check". Fund the gas addresses before payouts.';

const configured = () => loadConfig(terminal().env, { role: 'none' });

async function makeNew({ options }: CommandCall<{ readonly force?: true }>) {
  const { seedFile } = configured().wallet;
  const force = options.force === true;
  // This comes before a passphrase is made for the wallet, so that a refusal leaves no file behind.
  if (!force && existsSync(seedFile))
    throw new OperatorError(
      `There is already a wallet at ${seedFile}`,
      'Use it, or move it to a safe place, or pass --force to replace it',
    );
  const passphrase = await passphraseOrNew();
  const made = await createWallet({ file: seedFile, passphrase, force, now: new Date() });
  if (made.keptOldFile)
    progress(
      `The old wallet is kept at ${made.keptOldFile}: addresses that were handed out until now belong to it. Keep it safe.`,
    );
  const { text, copy } = shown(made.publicParts);
  return {
    json: { ...present(made.publicParts), phrase: made.phrase },
    text: `Wallet: ${seedFile}\n${text}`,
    copy: [...copy, '', made.phrase, ''],
    next: NOTE,
  };
}

async function xpub() {
  const parts = await readPublicParts(configured().wallet.seedFile);
  return { json: present(parts), ...shown(parts) };
}

async function check() {
  const { seedFile } = configured().wallet;
  await readPublicParts(seedFile);
  const { ok, publicParts } = await checkPhrase({ file: seedFile, phrase: await readSecret(PHRASE) });
  const { xpub, gas } = present(publicParts);
  const problem = ok
    ? undefined
    : `This phrase belongs to another wallet than ${seedFile}. Find the right words before anybody pays to its addresses.`;
  return {
    json: { ok, xpub, gas },
    text: ok ? `The phrase restores ${seedFile} with all its addresses.` : 'The phrase does not fit.',
    problem,
  };
}

async function rotate() {
  const { seedFile, passphraseFile } = configured().wallet;
  const { passphrase } = await readPassphraseFile(passphraseFile);
  const next = (await readSecret(PASSPHRASE)).replace(/\r?\n$/, '');
  await rotatePassphrase({ file: seedFile, passphrase, next });
  return {
    json: { ok: true, file: seedFile },
    text: `${seedFile} opens with the new passphrase alone.`,
    next: `Write the new passphrase into ${passphraseFile} now: a signer that is started before is sealed. Copies of the file, backups too, still open with the old one.`,
  };
}

/** The passphrase file's content. Outside production a missing one is made, and the operator is told so. */
async function passphraseOrNew(): Promise<string> {
  const { production, wallet } = configured();
  const { passphraseFile } = wallet;
  if (!existsSync(passphraseFile)) {
    if (production)
      throw new OperatorError(
        `There is no passphrase at ${passphraseFile}`,
        'Write one of at least 12 characters there, readable by the signer alone, and set WALLET_PASSPHRASE_FILE',
      );
    await writePrivateFile(passphraseFile, `${randomBytes(32).toString('base64url')}\n`, { replace: false });
    progress(`Made a passphrase at ${passphraseFile}: keep it apart from the wallet.`);
  }
  const { passphrase, warning } = await readPassphraseFile(passphraseFile);
  if (warning) progress(warning);
  return passphrase;
}

function present({ xpub, gas }: PublicParts) {
  return { xpub: xpub.live, gas, xpub_test: xpub.test };
}

/** The account keys as lines for the environment of API and worker. */
function shown({ xpub, gas }: PublicParts): { readonly text: string; readonly copy: readonly string[] } {
  const copy = MODES.flatMap((mode) =>
    NETWORKS.map((network) => `${xpubVariable(mode, network)}=${xpub[mode][network]}`),
  );
  const text = facts(Object.fromEntries(NETWORKS.map((network) => [`gas address ${network}`, gas[network]])));
  return { text, copy };
}
