import { createHash } from 'node:crypto';
import { decodeBase58, encodeBase58, getBytes, toBeArray } from 'ethers';

const PREFIX = 0x41;

/** The base58check form (T…) of an EVM-style 0x address: the two chains hash public keys alike and differ in spelling only. */
export function tronAddressOf(evmAddress: string): string {
  const payload = new Uint8Array([PREFIX, ...getBytes(evmAddress)]);
  return encodeBase58(new Uint8Array([...payload, ...checksum(payload)]));
}

/** True for a mainnet-prefixed base58check address; a typo fails on the checksum. */
export function isTronAddress(text: string): boolean {
  if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return false;
  const bytes = toBeArray(decodeBase58(text));
  return bytes.length === 25 && bytes[0] === PREFIX && Buffer.from(checksum(bytes.slice(0, 21))).equals(bytes.slice(21));
}

function checksum(payload: Uint8Array): Uint8Array {
  const once = createHash('sha256').update(payload).digest();
  return createHash('sha256').update(once).digest().subarray(0, 4);
}
