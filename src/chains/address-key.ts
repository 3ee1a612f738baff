declare const BRAND: unique symbol;

/**
 * An address as it is kept and compared: its 20 bytes as 40
 * lower-case hex digits, whatever the chain's own spelling is.
 */
export type AddressKey = string & { readonly [BRAND]: 'AddressKey' };

/** Sorts before every key: where a walk over all of them begins. */
export const BEFORE_ALL_KEYS = '' as AddressKey;

/**
 * The key in a text that holds 40 hex digits of any case from
 * `offset` on and nothing behind them. Throws on anything else.
 */
export function keyOfHex(text: string, offset = 0): AddressKey {
  const key = text.slice(offset).toLowerCase();
  if (!/^[0-9a-f]{40}$/.test(key)) throw new Error('an address key is 40 hex digits');
  return key as AddressKey;
}

/** A key as nodes of Ethereum's kind write the address: 0x and lower-case hex. */
export function hexAddress(key: AddressKey): string {
  return `0x${key}`;
}
