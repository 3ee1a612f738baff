import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { MODES, type Mode } from '../../domain/assets.ts';

const DIGITS = new Map(
  Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', (digit, value) => [
    BigInt(value),
    digit,
  ]),
);
const RANDOM_BYTES = 32;
/** 62^43 > 2^256 and 62^6 > 2^32: fixed widths, so every key has the same length. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^sk_(live|test)_[0-9A-Za-z]{49}$/;

/**
 * `sk_live_` or `sk_test_`, 32 random bytes in base62 and a checksum that finds a typo without the database.
 */
export function generateKey(mode: Mode): string {
  const body = `sk_${mode}_${base62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`), RANDOM_LENGTH)}`;
  return body + checksumOf(body);
}

/**
 * What a text that opens nothing is, as far as it can be told without the database: `none`, no key of ours;
 * `mistyped`, one whose checksum finds a slip; `unknown`, a whole key that nobody has here.
 */
export function flawOfKey(text: string): 'none' | 'mistyped' | 'unknown' {
  if (modeOfKey(text) !== undefined) return 'unknown';
  return /^sk_(live|test)_/.test(text) ? 'mistyped' : 'none';
}

/**
 * The mode of a well-formed key, or undefined for anything that no call of {@link generateKey} can have made.
 */
export function modeOfKey(key: string): Mode | undefined {
  const match = SHAPE.exec(key);
  if (!match) return undefined;
  const end = key.length - CHECKSUM_LENGTH;
  if (checksumOf(key.slice(0, end)) !== key.slice(end)) return undefined;
  return MODES.find((mode) => mode === match[1]);
}

function checksumOf(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value, index = 0; index < length; index += 1, rest /= 62n)
    text = `${DIGITS.get(rest % 62n)}${text}`;
  return text;
}
