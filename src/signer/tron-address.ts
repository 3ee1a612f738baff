import { createHash } from 'node:crypto';
import { encodeBase58, getBytes } from 'ethers';

const PREFIX = 0x41;

/** The base58check form (T…) of an EVM-style 0x address: the two chains hash public keys alike and differ in spelling only. */
export function tronAddressOf(evmAddress: string): string {
  const payload = new Uint8Array([PREFIX, ...getBytes(evmAddress)]);
  return encodeBase58(new Uint8Array([...payload, ...checksum(payload)]));
}

function checksum(payload: Uint8Array): Uint8Array {
  const once = createHash('sha256').update(payload).digest();
  return createHash('sha256').update(once).digest().subarray(0, 4);
}
