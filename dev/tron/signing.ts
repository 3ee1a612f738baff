// Keys and signatures: those of Ethereum, over another hash.
import { keccak256, SigningKey } from 'ethers';
import { type AddressKey, keyOfHex } from '../../src/chains/address-key.ts';
import { sha256 } from './ids.ts';

export type KeyPair = { readonly address: AddressKey; readonly privateKey: string };

/** A key that is the same in every run, by a name; for development chains alone. */
export function keyPair(name: string): KeyPair {
  const privateKey = sha256(Buffer.from(`development chain: ${name}`)).toString('hex');
  return { address: addressOfPublicKey(new SigningKey(`0x${privateKey}`).publicKey), privateKey };
}

/** The address of an uncompressed public key. */
export function addressOfPublicKey(publicKey: string): AddressKey {
  return keyOfHex(keccak256(`0x${publicKey.slice(4)}`), 26);
}

/** Signs an id of 32 bytes; both are hex, and the recovery id is 27 or 28. */
export function sign(id: string, privateKey: string): string {
  return new SigningKey(`0x${privateKey}`).sign(`0x${id}`).serialized.slice(2);
}
