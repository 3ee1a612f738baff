// What the benches of reading blocks share: the addresses that are looked for, and the taking of turns.
import { randomBytes } from 'node:crypto';
import { AddressSet } from '../../src/chains/address-set.ts';

export const ADDRESSES = 1_000_000;
export const ROUNDS = 40;
export const GOAL_RATIO = 0.8;

/** A million addresses that are ours, with one of them (40 hex digits) and the memory that they take. */
export function fillSet(): { set: AddressSet; some: string; residentMib: number } {
  const before = process.memoryUsage().arrayBuffers;
  const set = new AddressSet(ADDRESSES);
  const bytes = randomBytes(20);
  let some = '';
  for (let i = 0; i < ADDRESSES; i++) {
    bytes.writeUInt32BE(Math.imul(i + 1, 0x9e3779b1) >>> 0, 0);
    bytes.writeUInt32BE(i, 16);
    some = bytes.toString('hex');
    set.add(some);
  }
  return { set, some, residentMib: (process.memoryUsage().arrayBuffers - before) / 1_048_576 };
}

/**
 * The fastest round of several: the one that was least disturbed.
 * The two candidates take turns, so that both meet the same machine.
 */
export function fastestMs(candidates: readonly (() => void)[]): number[] {
  const best = candidates.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, candidate] of candidates.entries()) {
      const start = performance.now();
      candidate();
      best[index] = Math.min(best[index] ?? 0, performance.now() - start);
    }
  }
  return best;
}
