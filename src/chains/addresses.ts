// Deposit addresses from extended public keys, and the two ways addresses are written. No private key ever comes here.
import { createHash } from 'node:crypto';
import { decodeBase58, encodeBase58, getAddress, HDNodeVoidWallet, HDNodeWallet, toBeArray } from 'ethers';
import type { Network } from '../domain/assets.ts';

/** The account-level extended public keys (m/44'/60'/a' and m/44'/195'/a', BIP-44; a = 0 live, 1 test). */
export type AccountXpubs = { readonly xpubBsc: string; readonly xpubTron: string };

/** `bsc` in EIP-55 form, `tron` in base58check. */
export type DerivedAddresses = { readonly bsc: string; readonly tron: string };

const ACCOUNT_DEPTH = 3;
const HARDENED = 0x8000_0000;
const TRON_PREFIX = 0x41;

/**
 * Checks both keys once and returns the derivation of `0/index` below them. Keep the function: parsing a key costs as much as an
 * address. Throws a sentence for anything but an account-level xpub, and never repeats the key.
 */
export function createAddressDeriver(xpubs: AccountXpubs): (index: number) => DerivedAddresses {
  const bsc = externalChain('bsc', xpubs.xpubBsc);
  const tron = externalChain('tron', xpubs.xpubTron);
  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index >= HARDENED)
      throw new Error('an address index must be a whole number from 0 to 2147483647');
    return { bsc: bsc.deriveChild(index).address, tron: tronAddress(tron.deriveChild(index).address.slice(2)) };
  };
}

/** One derivation without keeping anything; see {@link createAddressDeriver}. */
export function deriveAddresses(xpubs: AccountXpubs, index: number): DerivedAddresses {
  return createAddressDeriver(xpubs)(index);
}

/** Throws a sentence, without the key in it, for anything but an account-level extended public key with a right checksum. */
export function checkAccountXpub(network: Network, xpub: string): void {
  externalChain(network, xpub);
}

function externalChain(network: Network, xpub: string): HDNodeVoidWallet {
  const text = xpub.trim();
  if (/^[a-z]prv/i.test(text))
    throw new Error(`the ${network} key is a private extended key: give the public one (xpub…) and move the private one to a safe place`);
  const mistyped = `the ${network} key is not an extended public key (xpub…): copy it again, a character is wrong or missing`;
  // ethers 6 compares the checksum of an extended key only when its length is wrong, and would take a mistyped key: every address
  // made from it would be one that nobody can spend from.
  if (!/^xpub[1-9A-HJ-NP-Za-km-z]{107}$/.test(text) || !hasChecksum(toBeArray(decodeBase58(text)))) throw new Error(mistyped);
  const node = HDNodeWallet.fromExtendedKey(text);
  if (!(node instanceof HDNodeVoidWallet)) throw new Error(mistyped);
  if (node.depth !== ACCOUNT_DEPTH || node.index < HARDENED) {
    throw new Error(
      `the ${network} key is not the key of an account (m/44'/${network === 'bsc' ? 60 : 195}'/0'): its depth is ${node.depth}, not ${ACCOUNT_DEPTH}`,
    );
  }
  return node.deriveChild(0);
}

/** Base58check of 0x41 + 20 bytes (40 hex digits). */
function tronAddress(hex: string): string {
  const payload = Buffer.concat([Buffer.of(TRON_PREFIX), Buffer.from(hex, 'hex')]);
  return encodeBase58(Buffer.concat([payload, checksum(payload)]));
}

function checksum(payload: Uint8Array): Buffer {
  const once = createHash('sha256').update(payload).digest();
  return createHash('sha256').update(once).digest().subarray(0, 4);
}

/** True where the last four bytes are the base58check checksum of the others. */
function hasChecksum(bytes: Uint8Array): boolean {
  return checksum(bytes.subarray(0, -4)).equals(bytes.subarray(-4));
}

/** The 20 bytes of a base58 address as lower-case hex without 0x; undefined for a wrong prefix, length or checksum. */
function tronBytes(text: string): string | undefined {
  if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return undefined;
  const hex = decodeBase58(text).toString(16);
  if (hex.length !== 50) return undefined;
  const bytes = Buffer.from(hex, 'hex');
  return bytes[0] === TRON_PREFIX && hasChecksum(bytes) ? hex.slice(2, 42) : undefined;
}

/** True for a complete address of that network: on bsc 0x + 40 hex with a right checksum or in one case, on tron base58check. */
export function isAddress(network: Network, text: string): boolean {
  return normaliseAddress(network, text) !== undefined;
}

/** The form merchants see (EIP-55 or base58); undefined where the text is no address of that network. */
export function normaliseAddress(network: Network, text: string): string | undefined {
  if (network === 'tron') return tronBytes(text) === undefined ? undefined : text;
  // ethers would also take ICAP and addresses without 0x, which nobody could compare with what a wallet shows.
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
  try {
    return getAddress(text);
  } catch {
    return undefined;
  }
}

/** The form every chain reader reports and every lookup uses: 0x + the 20 bytes in lower-case hex. Throws when it is no address. */
export function addressKey(network: Network, address: string): string {
  if (network === 'tron') {
    const hex = tronBytes(address);
    if (hex !== undefined) return `0x${hex}`;
  } else if (normaliseAddress(network, address) !== undefined) {
    return address.toLowerCase();
  }
  throw new Error(`not a ${network} address`);
}

/** The address merchants see for a key of {@link addressKey}. Throws when it is no key. */
export function addressFromKey(network: Network, key: string): string {
  if (!/^0x[0-9a-f]{40}$/.test(key)) throw new Error('not an address key');
  return network === 'tron' ? tronAddress(key.slice(2)) : getAddress(key);
}
