// Addresses of Tron as people write them, by the network's own library and none of the gateway's code.
import { TronWeb } from 'tronweb';

/** Base58 of 40 hex digits, or of 42 that begin with 41. */
export function base58Of(hex: string): string {
  const digits = hex.toLowerCase();
  return TronWeb.address.fromHex(digits.length === DIGITS ? `41${digits}` : digits);
}

/** The 40 hex digits of an address in base58. */
export function hexOf(base58: string): string {
  return TronWeb.address.toHex(base58).slice(2).toLowerCase();
}

const DIGITS = 40;
