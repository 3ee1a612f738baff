// Addresses in the input of a call: a call that names one may have paid it.
import type { AddressKey } from '../../address-key.ts';
import type { AddressLookup, NamedTransaction } from '../../reader.ts';

/** Digits of the selector before the first argument, and of one argument. */
const SELECTOR = 8;
const WORD = 64;
/** In an argument the address stands behind 12 bytes, the last of which some callers write as 41. */
const ADDRESS_AT = 24;
const PADDING = '0'.repeat(22);
const ZERO = PADDING.charCodeAt(0);
/** An amount or a length is no address: none that has a key begins with eight bytes of zeros. */
const SMALL = '0'.repeat(16);

/** The least that holds a packed call: where it is, how long, and behind its selector one argument. */
const SHORTEST_PACKING = SELECTOR + 4 * WORD;

/**
 * True where an argument of the call is a watched address, or an argument of a call packed into it: those
 * are moved by their own selectors, hence looked for at every fourth byte behind the zeros of an address.
 */
export function namesWatched(data: string, watched: AddressLookup): boolean {
  for (let at = SELECTOR; at + WORD <= data.length; at += WORD)
    if (isWatched(data, at + ADDRESS_AT, watched)) return true;
  if (data.length < SHORTEST_PACKING) return false;
  // Anybody may send a megabyte of it, so whatever can be ruled out by two digits is.
  for (let at = SELECTOR; at + WORD <= data.length; at += SELECTOR)
    if (
      data.charCodeAt(at) === ZERO &&
      data.charCodeAt(at + PADDING.length - 1) === ZERO &&
      data.startsWith(PADDING, at) &&
      isWatched(data, at + ADDRESS_AT, watched)
    )
      return true;
  return false;
}

function isWatched(data: string, at: number, watched: AddressLookup): boolean {
  const isSmall = data.charCodeAt(at) === ZERO && data.startsWith(SMALL, at);
  return !isSmall && watched.has(data, at);
}

/** True where an argument of a contract's constructor is a watched address: they stand at the code's end. */
export function constructorNamesWatched(code: string, watched: AddressLookup): boolean {
  for (let at = code.length - WORD; at >= 0; at -= WORD)
    if (isWatched(code, at + ADDRESS_AT, watched)) return true;
  return false;
}

/** Adds the transaction once for each of the wanted addresses that its input names. */
export function noteNamed(
  named: NamedTransaction[],
  { txHash, data }: { readonly txHash: string; readonly data: string },
  naming: readonly AddressKey[],
): void {
  const digits = data.toLowerCase();
  for (const addressKey of naming)
    if (digits.includes(addressKey)) named.push({ txHash, addressKey, calldata: `0x${digits}` });
}

/** Selector, and the arguments that tell receiver and amount: transfer, transferFrom. */
const TRANSFERS = [
  { selector: 'a9059cbb', to: 0 },
  { selector: '23b872dd', to: 1 },
];

/**
 * The 40 digits of the address that the input of a token's own transfer pays more than nothing; undefined
 * for every other input.
 */
export function payeeIn(data: string): string | undefined {
  const selector = data.slice(0, SELECTOR).toLowerCase();
  const transfer = TRANSFERS.find((known) => known.selector === selector);
  if (!transfer) return undefined;
  const at = SELECTOR + transfer.to * WORD;
  const amount = data.slice(at + WORD, at + 2 * WORD);
  const pays = amount.length === WORD && /[1-9a-f]/i.test(amount);
  return pays ? data.slice(at + ADDRESS_AT, at + WORD) : undefined;
}
