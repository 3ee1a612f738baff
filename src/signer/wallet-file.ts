import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { OperatorError } from '../base/errors.ts';
import { type AccountXpubs, xpubVariable } from '../chains/account-xpubs.ts';
import { byNetwork } from '../chains/index.ts';
import { byMode, type Mode, NETWORKS, type Network } from '../domain/assets.ts';
import { keysOf, newPhrase, normalisePhrase, type PublicParts, publicPartsOf, rootOf } from './accounts.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

/** An opened wallet: it gives out nothing that a key could be made from. */
export type OpenWallet = Awaited<ReturnType<typeof openWallet>>;

const MIN_PASSPHRASE_LENGTH = 12;
const SCRYPT = { N: 2 ** 17, r: 8, p: 1 } as const;
const MAX_SCRYPT_MEMORY_BYTES = 1024 ** 3;
const CIPHER = 'aes-256-gcm';
const TAG = { authTagLength: 16 } as const;

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));
const xpub = z.string().startsWith('xpub').max(120);
const forEach = <T extends z.ZodType>(value: T) => z.strictObject(byNetwork(() => value));
const walletFileSchema = z.strictObject({
  kind: z.literal('deposit-gateway-wallet'),
  version: z.literal(1),
  created_at: z.string().max(40),
  public: z.strictObject({
    xpub: z.strictObject({ live: forEach(xpub), test: forEach(xpub) }),
    gas: forEach(z.string().max(64)),
  }),
  // A file may require more work than we do, but never less, and never more memory than a server has.
  kdf: z.strictObject({
    name: z.literal('scrypt'),
    N: z.literal([SCRYPT.N, 2 ** 18, 2 ** 19, 2 ** 20]),
    r: z.literal(8),
    p: z.number().int().min(1).max(4),
    salt: hex(32),
  }),
  cipher: z.strictObject({
    name: z.literal(CIPHER),
    nonce: hex(12),
    tag: hex(16),
    text: z.string().regex(/^[0-9a-f]{2,1024}$/),
  }),
});
type WalletFile = z.infer<typeof walletFileSchema>;

/**
 * Makes an encrypted seed file (mode 0600) and returns its phrase: the only
 * time that it is ever shown. An existing file is refused; with `force` it is
 * kept beside the new one under its date, because it may hold the key to money.
 */
export async function createWallet(input: {
  readonly file: string;
  readonly passphrase: string;
  readonly force?: boolean;
  /** An existing phrase to restore; a new one of 24 words otherwise. */
  readonly phrase?: string;
  readonly now: Date;
}): Promise<{ phrase: string; publicParts: PublicParts; keptOldFile: string | undefined }> {
  requireLong(input.passphrase);
  const phrase = input.phrase === undefined ? newPhrase() : normalisePhrase(input.phrase);
  const publicParts = publicPartsOf(rootOf(phrase));
  const sealed = await seal(phrase, input.passphrase, publicParts, input.now);
  const keptOldFile = input.force ? await keepOldFile(input.file, input.now) : undefined;
  const written = await writePrivateFile(input.file, sealed, { replace: input.force === true });
  if (written) return { phrase, publicParts, keptOldFile };
  throw new OperatorError(
    `There is already a wallet at ${input.file}`,
    'Use it, or move it to a safe place, or pass --force to replace it',
  );
}

/**
 * Decrypts the seed. Throws an OperatorError for a wrong passphrase,
 * a changed file and a file whose public part is not its own.
 */
export async function openWallet(input: { readonly file: string; readonly passphrase: string }) {
  const { content, warning, root } = await opened(input);
  /** Sentences about file permissions, for the log. */
  const warnings: readonly string[] = warning ? [warning] : [];
  return { publicParts: content.public, warnings, ...keysOf(root) };
}

/**
 * Encrypts the seed again under another passphrase, in one step: at any moment the file opens with the one or
 * with the other. Throws an OperatorError as {@link openWallet} does, and for a passphrase that is short.
 */
export async function rotatePassphrase(input: {
  readonly file: string;
  readonly passphrase: string;
  readonly next: string;
}): Promise<void> {
  requireLong(input.next);
  const { content, phrase } = await opened(input);
  const sealed = await seal(phrase, input.next, content.public, new Date(content.created_at));
  await writePrivateFile(input.file, sealed, { replace: true });
}

/** The public part, without a passphrase. Only {@link openWallet} proves it. */
export async function readPublicParts(file: string): Promise<PublicParts> {
  return (await readWalletFile(file)).content.public;
}

/**
 * The account keys that addresses are made from: the environment's, else the public
 * part of the wallet file. Throws an OperatorError when one is missing, and when both
 * exist and differ: the signer could then never move what arrives at those addresses.
 */
export async function resolveAccountXpubs(wallet: {
  readonly xpubs: Readonly<Record<Mode, Readonly<Record<Network, string | undefined>>>>;
  readonly seedFile: string;
}): Promise<Readonly<Record<Mode, AccountXpubs>>> {
  const file = existsSync(wallet.seedFile) ? await readPublicParts(wallet.seedFile) : undefined;
  const pick = (mode: Mode, network: Network): string => {
    const variable = xpubVariable(mode, network);
    const [given, own] = [wallet.xpubs[mode][network], file?.xpub[mode][network]];
    if (given !== undefined && own !== undefined && given !== own)
      throw new OperatorError(
        `${variable} does not belong to the wallet at ${wallet.seedFile}: money sent to its addresses could not be moved`,
        `Set it to what "gateway wallet xpub" prints, or point WALLET_SEED_FILE to the right wallet`,
      );
    const chosen = given ?? own;
    if (chosen !== undefined) return chosen;
    throw new OperatorError(
      `${variable} is not set and there is no wallet at ${wallet.seedFile}`,
      `Set it to what "gateway wallet xpub" prints on the signer's machine`,
    );
  };
  return byMode((mode) => byNetwork(({ network }) => pick(mode, network)));
}

/**
 * Whether the phrase restores exactly the addresses of the wallet file:
 * all account keys and both gas addresses. Shows nothing of the phrase.
 */
export async function checkPhrase(input: {
  readonly file: string;
  readonly phrase: string;
}): Promise<{ ok: boolean; publicParts: PublicParts }> {
  const publicParts = await readPublicParts(input.file);
  const restored = publicPartsOf(rootOf(normalisePhrase(input.phrase)));
  return { ok: isDeepStrictEqual(restored, publicParts), publicParts };
}

/** The passphrase in a file, without the line end that editors and `echo` add. */
export async function readPassphraseFile(
  file: string,
): Promise<{ passphrase: string; warning: string | undefined }> {
  const { text, warning } = await readPrivateFile(file, 'the passphrase file');
  const passphrase = text.replace(/\r?\n$/, '');
  if (passphrase === '')
    throw new OperatorError(`${file} is empty`, 'Write the passphrase of the wallet into it');
  return { passphrase, warning };
}

function requireLong(passphrase: string): void {
  if (passphrase.length >= MIN_PASSPHRASE_LENGTH) return;
  throw new OperatorError(
    `The passphrase is shorter than ${MIN_PASSPHRASE_LENGTH} characters`,
    'Choose a longer one',
  );
}

async function opened({ file, passphrase }: { readonly file: string; readonly passphrase: string }) {
  const { content, warning } = await readWalletFile(file);
  const phrase = await phraseIn(content, file, passphrase);
  const root = rootOf(phrase);
  if (!isDeepStrictEqual(publicPartsOf(root), content.public))
    throw new OperatorError(
      `The public part of ${file} does not belong to its seed`,
      'Restore the file from its backup',
    );
  return { content, warning, phrase, root };
}

async function phraseIn(content: WalletFile, file: string, passphrase: string): Promise<string> {
  const key = await deriveKey(passphrase, content.kdf);
  const decipher = createDecipheriv(CIPHER, key, Buffer.from(content.cipher.nonce, 'hex'), TAG);
  decipher.setAAD(boundParts(content));
  decipher.setAuthTag(Buffer.from(content.cipher.tag, 'hex'));
  try {
    return Buffer.concat([decipher.update(content.cipher.text, 'hex'), decipher.final()]).toString('utf8');
  } catch {
    throw new OperatorError(
      `${file} does not open: the passphrase is wrong or the file was changed`,
      'Check WALLET_PASSPHRASE_FILE, or restore the file from its backup',
    );
  }
}

/** The text of a file in which the phrase is encrypted. */
async function seal(phrase: string, passphrase: string, parts: PublicParts, now: Date): Promise<string> {
  const kdf = { name: 'scrypt', ...SCRYPT, salt: randomBytes(32).toString('hex') } as const;
  const [kind, version, created_at] = ['deposit-gateway-wallet', 1, now.toISOString()] as const;
  const head = { kind, version, created_at, public: parts, kdf };
  const nonce = randomBytes(12);
  const cipher = createCipheriv(CIPHER, await deriveKey(passphrase, kdf), nonce, TAG);
  cipher.setAAD(boundParts(head));
  const text = cipher.update(phrase, 'utf8', 'hex') + cipher.final('hex');
  const [nonceHex, tag] = [nonce, cipher.getAuthTag()].map((bytes) => bytes.toString('hex'));
  const file = { ...head, cipher: { name: CIPHER, nonce: nonceHex, tag, text } };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** Everything in the file but the ciphertext is authenticated, in one fixed order of members. */
function boundParts({ kind, version, created_at, kdf, public: parts }: Omit<WalletFile, 'cipher'>): Buffer {
  const { live, test } = parts.xpub;
  const all = [live, test, parts.gas].flatMap((one) => NETWORKS.map((network) => one[network]));
  const head = [kind, version, created_at, kdf.name, kdf.N, kdf.r, kdf.p, kdf.salt];
  return Buffer.from(JSON.stringify([...head, ...all]), 'utf8');
}

function deriveKey(passphrase: string, kdf: WalletFile['kdf']): Promise<Buffer> {
  const options = { N: kdf.N, r: kdf.r, p: kdf.p, maxmem: MAX_SCRYPT_MEMORY_BYTES + 2 ** 20 };
  return new Promise((resolve, reject) => {
    // NFKC: the same passphrase typed on another keyboard gives the same bytes.
    scrypt(passphrase.normalize('NFKC'), Buffer.from(kdf.salt, 'hex'), 32, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

async function readWalletFile(file: string): Promise<{ content: WalletFile; warning: string | undefined }> {
  const { text, warning } = await readPrivateFile(file, 'the wallet file');
  const parsed = walletFileSchema.safeParse(parseJson(text));
  if (!parsed.success)
    throw new OperatorError(
      `${file} is not a wallet file of this gateway, or it was changed`,
      'Restore it from its backup, or correct WALLET_SEED_FILE',
    );
  return { content: parsed.data, warning };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function keepOldFile(file: string, now: Date): Promise<string | undefined> {
  const kept = `${file}.replaced-${now.toISOString().replace(/[:.]/g, '-')}`;
  try {
    await link(file, kept);
    return kept;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
