import { randomBytes } from 'node:crypto';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { Refusal } from '../refusal.ts';
import { isCommonPassword } from './common-passwords.ts';

/** What a hash costs. argon2id is the package's default; the numbers are OWASP's first choice for it. */
export type PasswordCost = {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
};

/**
 * 19 MiB (in KiB), two passes, one lane. It is raised here: hashes are renewed at their owner's next login.
 */
export const PASSWORD_COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const MIN_CHARACTERS = 12;
const MAX_BYTES = 256;
const MIN_DISTINCT = 5;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Passwords that anybody tries, but that lists of real passwords do not have near their top. */
const COMMON = /^[^a-z]*(passw0rd|administrator|admin|changeme)[^a-z]*$/;

/**
 * The same password however a keyboard composes its letters. Throws a {@link Refusal} that names the
 * rule: at least 12 characters, at most 256 bytes of UTF-8, and none of those that are guessed first.
 */
export function checkNewPassword(password: string, email: string): string {
  const text = password.normalize('NFKC');
  if (text.includes('\0') || !text.isWellFormed()) refuse('must be plain text');
  if ([...text].length < MIN_CHARACTERS) refuse(`must have at least ${MIN_CHARACTERS} characters`);
  if (Buffer.byteLength(text) > MAX_BYTES) refuse(`must have at most ${MAX_BYTES} bytes`);
  const lower = text.toLowerCase();
  if (new Set(lower).size < MIN_DISTINCT || isRun(lower) || COMMON.test(lower) || isCommonPassword(text))
    refuse('is too easy to guess');
  if (lower === email || lower === email.split('@', 1)[0]) refuse('must not be the email address');
  return text;
}

/** The argon2id hash of a password that {@link checkNewPassword} returned. */
export async function hashPassword(password: string, cost: PasswordCost = PASSWORD_COST): Promise<string> {
  return await hash(password.normalize('NFKC'), cost);
}

/** Whether the password belongs to the hash. Takes the time that the hash's own parameters ask for. */
export async function isPassword(storedHash: string, password: string): Promise<boolean> {
  return await verify(storedHash, password.normalize('NFKC'));
}

/** Whether a hash is cheaper than one that is made now. A hash that cost more stays. */
export function isOutdated(storedHash: string, cost: PasswordCost = PASSWORD_COST): boolean {
  const used = parseOptions(storedHash);
  return (
    used.memoryCost < cost.memoryCost || used.timeCost < cost.timeCost || used.parallelism < cost.parallelism
  );
}

/**
 * A hash that no password has and that costs as much as a real
 * one: an account that does not exist takes the same time.
 */
export function decoyHash(cost: PasswordCost = PASSWORD_COST): string {
  const random = (bytes: number): string => randomBytes(bytes).toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${random(SALT_BYTES)}$${random(HASH_BYTES)}`;
}

/** Whether every character follows the one before it, as in 123456789012 or abcdefghijkl. */
function isRun(text: string): boolean {
  const steps = [...text]
    .slice(1)
    .map((character, index) => character.charCodeAt(0) - text.charCodeAt(index));
  return steps.filter((step) => step === 1 || step === 0 || step === -1).length >= steps.length - 1;
}

function refuse(rule: string): never {
  throw new Refusal('INVALID', `The password ${rule}.`, 'password');
}
