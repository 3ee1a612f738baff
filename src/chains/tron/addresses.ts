import { decodeBase58, encodeBase58 } from 'ethers';
import { type AddressKey, keyOfHex } from '../address-key.ts';
import { checksum, hasChecksum } from '../base58.ts';
import type { ChainAddresses } from '../chain.ts';

/** The byte before the 20 of an address: it makes each begin with T. */
const PREFIX = 0x41;
const PREFIXED_DIGITS = 50;

function parse(text: string): AddressKey | undefined {
  if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return undefined;
  const hex = decodeBase58(text).toString(16);
  if (hex.length !== PREFIXED_DIGITS) return undefined;
  const bytes = Buffer.from(hex, 'hex');
  return bytes[0] === PREFIX && hasChecksum(bytes) ? keyOfHex(hex.slice(2, 42)) : undefined;
}

function format(key: AddressKey): string {
  const payload = Buffer.concat([Buffer.of(PREFIX), Buffer.from(key, 'hex')]);
  return encodeBase58(Buffer.concat([payload, checksum(payload)]));
}

/** Base58check over the 20 bytes that an EVM derives from the same public key. */
export const TRON_ADDRESSES: ChainAddresses = {
  form: 'T and 33 characters in base58',
  parse,
  format,
  spell: format,
  key: (address) => {
    const key = parse(address);
    if (key === undefined) throw new Error('not a tron address');
    return key;
  },
};
