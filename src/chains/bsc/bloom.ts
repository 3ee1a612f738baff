// The 2048-bit log bloom of a receipt: a bit that is clear proves that a log is absent,
// and a missing log shows as a bit too many. Yellow paper, section 4.3.1 (M3:2048).
import { keccak256 } from 'ethers';

const BLOOM_HEX = 512;

/** The bloom of "no logs at all". */
export const EMPTY_BLOOM: string = `0x${'0'.repeat(BLOOM_HEX)}`;

export type BloomProbe = readonly { readonly at: number; readonly mask: number }[];

/** The places where a bloom has bits set if it covers all of these items (addresses, topics; 0x hex). */
export function bloomProbe(items: readonly string[]): BloomProbe {
  return items.flatMap((item) => {
    const hash = Buffer.from(keccak256(item.toLowerCase()).slice(2), 'hex');
    return [0, 2, 4].map((pair) => {
      const bit = hash.readUInt16BE(pair) & 2047;
      return { at: 2 + (BLOOM_HEX - 1 - (bit >> 2)), mask: 1 << (bit & 3) };
    });
  });
}

/** False proves that the bloom covers no such log; true means only that it may. */
export function bloomMayHold(bloom: string, probe: BloomProbe): boolean {
  for (const { at, mask } of probe) {
    const code = bloom.charCodeAt(at);
    const digit = code < 58 ? code - 48 : (code | 32) - 87;
    if ((digit & mask) === 0) return false;
  }
  return true;
}

/**
 * The bloom that these logs make, lower-case. Slow (a hash
 * for every item): for the rare case that needs proof.
 */
export function bloomOf(
  logs: readonly { readonly address: string; readonly topics: readonly string[] }[],
): string {
  const digits = new Uint8Array(BLOOM_HEX);
  for (const { at, mask } of bloomProbe(logs.flatMap((log) => [log.address, ...log.topics]))) {
    digits[at - 2] = (digits[at - 2] ?? 0) | mask;
  }
  return `0x${Array.from(digits, (digit) => digit.toString(16)).join('')}`;
}
