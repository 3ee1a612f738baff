import type { ScannedBlock } from '../../chain/port.ts';

/** Blocks under way at a time; with the size limit of an answer it bounds the memory of a catch-up. */
export const PARALLEL_READS = 12;

type Read = (number: number) => Promise<ScannedBlock | undefined>;

/**
 * Reads ahead in parallel and yields the readings in order. A reading may still be under way or have failed: whoever awaits it gets its
 * error at its turn, after the blocks before it. Once `enough` says so no further block is begun, and those under way are the last.
 */
export async function* readInOrder(
  first: number,
  last: number,
  read: Read,
  enough: () => boolean = () => false,
): AsyncGenerator<readonly [number, Promise<ScannedBlock | undefined>]> {
  const ahead: Promise<ScannedBlock | undefined>[] = [];
  let next = first;
  for (let number = first; number <= last; number += 1) {
    // The first one is read in any case: whoever asks for blocks gets on.
    while (next <= last && ahead.length < PARALLEL_READS && (next === first || !enough())) {
      const reading = read(next);
      reading.catch(() => undefined);
      ahead.push(reading);
      next += 1;
    }
    const reading = ahead.shift();
    if (!reading) return;
    // In a tuple: a generator would await a bare promise and throw its error here.
    yield [number, reading];
  }
}
