import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { OperatorError } from '../../base/errors.ts';
import { xpubVariable } from '../../chains/account-xpubs.ts';
import { MODES, NETWORKS } from '../../domain/assets.ts';
import type { PublicParts } from '../../signer/accounts.ts';
import { answering, group, leaf, progress } from '../run.ts';
import { readSecret } from '../stdin.ts';
import { facts } from '../table.ts';
import { terminal } from '../terminal.ts';

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

/** `wallet`: works on the files of the wallet alone, without a database. */
export function addWalletCommands(program: Command): void {
  const wallet = group(program, 'wallet', 'the encrypted seed that all addresses come from');
  leaf(wallet, 'new', 'makes the encrypted seed file and shows its phrase this once')
    .option('--force', 'replace an existing wallet; the old file is kept beside it')
    .action(answering(makeNew));
  leaf(wallet, 'xpub', 'prints the account keys and the gas addresses to fund').action(answering(xpub));
  leaf(wallet, 'check', 'reads a phrase on stdin and proves that it restores the same addresses').action(
    answering(check),
  );
  leaf(
    wallet,
    'rotate-passphrase',
    'reads a new passphrase on stdin and encrypts the seed with it; WALLET_PASSPHRASE_FILE holds the old one',
  ).action(answering(rotate));
}

async function makeNew({ options }: { options: { readonly force?: true } }) {
  const { createWallet } = await load();
  const { seedFile } = await walletConfig();
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
  const json = { ...present(made.publicParts), phrase: made.phrase };
  const { text, copy } = shown(made.publicParts);
  return { json, text: `Wallet: ${seedFile}\n${text}`, copy: [...copy, '', made.phrase, ''], next: NOTE };
}

const NOTE =
  'These words restore the wallet and are shown this once: write them on paper, then prove it with "gateway wallet check". Fund the gas addresses before payouts.';

async function xpub() {
  const { readPublicParts } = await load();
  const parts = await readPublicParts((await walletConfig()).seedFile);
  return { json: present(parts), ...shown(parts) };
}

async function check() {
  const { checkPhrase, readPublicParts } = await load();
  const { seedFile } = await walletConfig();
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
  const { readPassphraseFile, rotatePassphrase } = await import('../../signer/wallet-file.ts');
  const { seedFile, passphraseFile } = await walletConfig();
  const { passphrase } = await readPassphraseFile(passphraseFile);
  const next = (await readSecret(PASSPHRASE)).replace(/\r?\n$/, '');
  await rotatePassphrase({ file: seedFile, passphrase, next });
  return {
    json: { ok: true, file: seedFile },
    text: `${seedFile} opens with the new passphrase alone.`,
    next: `Write the new passphrase into ${passphraseFile} now: a signer that is started before is sealed. Copies of the file, backups too, still open with the old one.`,
  };
}

async function load() {
  const [files, { writePrivateFile }] = await Promise.all([
    import('../../signer/wallet-file.ts'),
    import('../../signer/private-file.ts'),
  ]);
  return { ...files, writePrivateFile };
}

async function walletConfig() {
  const { loadConfig } = await import('../../config/index.ts');
  const config = loadConfig(terminal().env, { role: 'none' });
  return { ...config.wallet, production: config.production };
}

/** The passphrase file's content. Outside production a missing one is made, and the operator is told so. */
async function passphraseOrNew(): Promise<string> {
  const { readPassphraseFile, writePrivateFile } = await load();
  const { passphraseFile, production } = await walletConfig();
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

function present(parts: PublicParts) {
  return { xpub: parts.xpub.live, gas: parts.gas, xpub_test: parts.xpub.test };
}

/** The account keys as lines for the environment of API and worker. */
function shown({ xpub, gas }: PublicParts): { readonly text: string; readonly copy: readonly string[] } {
  const copy = MODES.flatMap((mode) =>
    NETWORKS.map((network) => `${xpubVariable(mode, network)}=${xpub[mode][network]}`),
  );
  const text = facts(Object.fromEntries(NETWORKS.map((network) => [`gas address ${network}`, gas[network]])));
  return { text, copy };
}
