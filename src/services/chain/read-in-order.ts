import type { ScannedBlock } from '../../chain/port.ts';

/** Blocks under way at a time; with the size limit of an answer it bounds the memory of a catch-up. */
export const PARALLEL_READS = 6;

/**
 * Reads ahead in parallel and yields the readings in order. A reading may still be under way or have failed: whoever awaits it gets its
 * error at its turn, after the blocks before it.
 */
export async function* readInOrder(
  first: number,
  last: number,
  read: (number: number) => Promise<ScannedBlock | undefined>,
): AsyncGenerator<readonly [number, Promise<ScannedBlock | undefined>]> {
  const ahead: Promise<ScannedBlock | undefined>[] = [];
  let next = first;
  for (let number = first; number <= last; number += 1) {
    while (next <= last && ahead.length < PARALLEL_READS) {
      const reading = read(next);
      reading.catch(() => undefined);
      ahead.push(reading);
      next += 1;
    }
    const reading = ahead.shift();
    // In a tuple: a generator would await a bare promise and throw its error here.
    if (reading) yield [number, reading];
  }
}
