// Whose signatures stand beside the id of a transaction of Tron.
import { N, recoverAddress, toBeHex } from 'ethers';
import { type AddressKey, keyOfHex } from '../address-key.ts';

const TEXT = /^([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{2})/i;
const FIRST_PARITY = 27;

/**
 * The keys that have signed an id, of signatures as nodes show them; what is none is left out. They are read
 * as nodes read them: whoever passes a transaction on may write the other of the two values that are as good,
 * or the last byte without its 27, and the chain takes that under the same id.
 */
export function keysThatSigned(id: string, signatures: unknown): readonly AddressKey[] {
  return (Array.isArray(signatures) ? signatures : []).flatMap((text) => {
    const [, r, s, last] = TEXT.exec(String(text)) ?? [];
    const high = BigInt(`0x${s ?? 0}`);
    const isHigh = high > N / 2n;
    const parity = Number.parseInt(last ?? '0', 16);
    const odd = (parity < FIRST_PARITY ? parity : parity - FIRST_PARITY) % 2 === 1;
    try {
      const lower = toBeHex(isHigh ? N - high : high, 32);
      const signer = recoverAddress(`0x${id}`, { r: `0x${r}`, s: lower, yParity: odd === isHigh ? 0 : 1 });
      return [keyOfHex(signer, 2)];
    } catch {
      return [];
    }
  });
}
