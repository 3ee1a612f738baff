// Deposit addresses from extended public keys, and the ways
// addresses and hashes are written. No private key ever comes here.
import { decodeBase58, HDNodeVoidWallet, HDNodeWallet, toBeArray } from 'ethers';
import type { Network } from '../domain/assets.ts';
import type { AccountXpubs } from './account-xpubs.ts';
import { type AddressKey, keyOfHex } from './address-key.ts';
import { hasChecksum } from './base58.ts';
import { byNetwork, chainOf } from './index.ts';

/** Each in its network's own spelling. */
export type DerivedAddresses = Readonly<Record<Network, string>>;

const ACCOUNT_DEPTH = 3;
const HARDENED = 0x8000_0000;

/**
 * Checks both keys once and returns the derivation of `0/index` below them.
 * Keep the function: parsing a key costs as much as an address. Throws a
 * sentence for anything but an account-level xpub, and never repeats the key.
 */
export function createAddressDeriver(xpubs: AccountXpubs): (index: number) => DerivedAddresses {
  const externals = byNetwork(({ network }) => externalChain(network, xpubs[network]));
  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index >= HARDENED)
      throw new Error('an address index must be a whole number from 0 to 2147483647');
    return byNetwork(({ network, addresses }) =>
      addresses.format(keyOfHex(externals[network].deriveChild(index).address, 2)),
    );
  };
}

const DERIVERS = new WeakMap<AccountXpubs, (index: number) => DerivedAddresses>();

/**
 * The addresses of an index, see {@link createAddressDeriver}. Keys are parsed once for as long as they are
 * held.
 */
export function deriveAddresses(xpubs: AccountXpubs, index: number): DerivedAddresses {
  const derive = DERIVERS.get(xpubs) ?? createAddressDeriver(xpubs);
  DERIVERS.set(xpubs, derive);
  return derive(index);
}

/**
 * Throws a sentence, without the key in it, for anything but
 * an account-level extended public key with a right checksum.
 */
export function checkAccountXpub(network: Network, xpub: string): void {
  externalChain(network, xpub);
}

function externalChain(network: Network, xpub: string): HDNodeVoidWallet {
  const text = xpub.trim();
  if (/^[a-z]prv/i.test(text))
    throw new Error(
      `the ${network} key is a private extended key: give the public one (xpub…) and move the private one to a safe place`,
    );
  const mistyped = `the ${network} key is not an extended public key (xpub…): copy it again, a character is wrong or missing`;
  // ethers 6 compares the checksum of an extended key only when its length is wrong, and would
  // take a mistyped key: every address made from it would be one that nobody can spend from.
  if (!/^xpub[1-9A-HJ-NP-Za-km-z]{107}$/.test(text) || !hasChecksum(toBeArray(decodeBase58(text))))
    throw new Error(mistyped);
  const node = HDNodeWallet.fromExtendedKey(text);
  if (!(node instanceof HDNodeVoidWallet)) throw new Error(mistyped);
  if (node.depth !== ACCOUNT_DEPTH || node.index < HARDENED) {
    throw new Error(
      `the ${network} key is not the key of an account (m/44'/${chainOf(network).coinType}'/0'): its depth is ${node.depth}, not ${ACCOUNT_DEPTH}`,
    );
  }
  return node.deriveChild(0);
}

/**
 * True for a complete address of that network: on bsc 0x + 40 hex digits with a right
 * checksum or all in one case, on tron base58check.
 */
export function isAddress(network: Network, text: string): boolean {
  return normaliseAddress(network, text) !== undefined;
}

/** The form merchants see (EIP-55 or base58); undefined where the text is no address of that network. */
export function normaliseAddress(network: Network, text: string): string | undefined {
  const { parse, format } = chainOf(network).addresses;
  const key = parse(text);
  return key === undefined ? undefined : format(key);
}

/** The key of an address, in any spelling of that network. Throws when the text is no address. */
export function addressKeyOf(network: Network, address: string): AddressKey {
  return chainOf(network).addresses.key(address);
}

/** The address of a key as the network's reader spells it. */
export function spelledAddress(network: Network, key: AddressKey): string {
  return chainOf(network).addresses.spell(key);
}

/**
 * A transaction hash, given in any case, in the one spelling of the network's
 * reader; undefined for every other text.
 */
export function transactionHashOf(network: Network, text: string): string | undefined {
  const hash = text.toLowerCase();
  const digits = chainOf(network).hashHasPrefix ? /^0x[0-9a-f]{64}$/ : /^[0-9a-f]{64}$/;
  return digits.test(hash) ? hash : undefined;
}

/** What a transaction hash looks like, for an operator who wrote something else. */
export function hashForm(network: Network): string {
  return `${chainOf(network).hashHasPrefix ? '0x and ' : ''}64 hex digits`;
}

/**
 * The spellings under which rows may name an address: as merchants see it, and as the chain's reader writes
 * it.
 */
export function spellingsOf(network: Network, address: string): readonly string[] {
  const { format, spell } = chainOf(network).addresses;
  const key = addressKeyOf(network, address);
  return [...new Set([format(key), spell(key)])];
}
