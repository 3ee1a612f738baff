// Single values as nodes of Tron send them: hex without 0x, amounts as numbers, and a zero left out.
import { type AddressKey, keyOfHex } from '../../address-key.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { TRON_ADDRESSES } from '../addresses.ts';

/** Where the 40 digits of an address begin: in a transaction it is written with 41 in front. */
export const AFTER_41 = 2;
const [FOUR, ONE] = [0x34, 0x31];
const PREFIXED_DIGITS = 42;
const KEY_DIGITS = 40;
const ID_DIGITS = 64;
/** Amounts of TRX are signed 64-bit integers. */
const MAX_SUN = 2n ** 63n - 1n;

/** The id of a block or transaction in the one spelling that is kept; undefined for anything else. */
export function readId(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length !== ID_DIGITS) return undefined;
  const id = value.toLowerCase();
  return /^[0-9a-f]+$/.test(id) ? id : undefined;
}

/**
 * True for the form of an address in a transaction. Anything else would match no watched
 * address and be passed over in silence, as base58 from a node that was asked for it.
 */
export function isPrefixed(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length === PREFIXED_DIGITS &&
    value.charCodeAt(0) === FOUR &&
    value.charCodeAt(1) === ONE
  );
}

/** The address in base58 whose 40 digits begin at `offset`. Throws EndpointFailure where there are none. */
export function spelledAt(text: unknown, offset: number): string {
  return TRON_ADDRESSES.format(keyAt(text, offset));
}

function keyAt(text: unknown, offset: number): AddressKey {
  const digits = typeof text === 'string' ? text.slice(offset) : '';
  if (digits.length !== KEY_DIGITS || !/^[0-9a-f]+$/i.test(digits))
    throw new EndpointFailure('an address that is none');
  return keyOfHex(digits);
}

/** An amount that is none, or one that was rounded: then `exactly` tells what it is. */
export class InexactAmount extends EndpointFailure {}

/**
 * An amount of TRX in sun; zero is left out by nodes. Throws InexactAmount
 * for everything that is not an exact amount, rounded numbers included.
 */
export function readSun(value: unknown): bigint {
  if (value === undefined) return 0n;
  const sun = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof sun !== 'bigint' || sun < 0n || sun > MAX_SUN)
    throw new InexactAmount('an amount that is no whole number of sun');
  return sun;
}

/** 32 bytes of an amount of tokens. Throws EndpointFailure where they are no hex. */
export function readWord(hex: string): bigint {
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new EndpointFailure('an amount that is no hex');
  return BigInt(`0x${hex}`);
}
