// Addresses in the input of a call: a call that names one may have paid it.
import type { AddressKey } from '../address-key.ts';
import type { AddressLookup, NamedTransaction } from '../reader.ts';

/** Digits of the selector before the first argument, and of one argument. */
const SELECTOR = 8;
const WORD = 64;
/** In an argument the address stands behind 12 bytes, the last of which some callers write as 41. */
const ADDRESS_AT = 24;
const PADDING = '0'.repeat(22);

/** The least that holds a packed call: where it is, how long, and behind its selector one argument. */
const SHORTEST_PACKING = SELECTOR + 4 * WORD;

/**
 * True where an argument of the call is a watched address, or an argument of a call packed into it: those
 * are moved by their own selectors, hence looked for at every fourth byte behind the zeros of an address.
 */
export function namesWatched(data: string, watched: AddressLookup): boolean {
  for (let at = SELECTOR; at + WORD <= data.length; at += WORD)
    if (watched.has(data, at + ADDRESS_AT)) return true;
  if (data.length < SHORTEST_PACKING) return false;
  for (let at = SELECTOR; at + WORD <= data.length; at += SELECTOR)
    if (data.startsWith(PADDING, at) && watched.has(data, at + ADDRESS_AT)) return true;
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

/** True for the input of a token's own transfer of more than nothing to a watched address. */
export function paysWatched(data: string, watched: AddressLookup): boolean {
  return TRANSFERS.some(({ selector, to }) => {
    const at = SELECTOR + to * WORD;
    const amount = data.slice(at + WORD, at + 2 * WORD);
    const isTransfer = data.slice(0, SELECTOR).toLowerCase() === selector && amount.length === WORD;
    return isTransfer && /[1-9a-f]/i.test(amount) && watched.has(data, at + ADDRESS_AT);
  });
}
