import type { ScannedBlock } from '../../../chains/reader.ts';

/** Blocks that one poll reads near the head. */
export const BATCH_BLOCKS = 24;
/** Blocks under way at a time; with the size limit of an answer it bounds the memory of a catch-up. */
export const PARALLEL_READS = 12;
/**
 * Blocks that may lie read before they are taken: they are small by then.
 * They keep the RPC endpoint busy while those before them are committed.
 */
export const READ_AHEAD = 24;

type Read = (number: number) => Promise<ScannedBlock | undefined>;

/**
 * Reads ahead in parallel and yields the readings in order. A reading may still be under way or
 * have failed: the caller that awaits it gets its error at its turn, after the blocks before
 * it. Once `enough` says so no further block is begun, and those under way are the last.
 */
export async function* readInOrder(
  first: number,
  last: number,
  read: Read,
  enough: () => boolean = () => false,
): AsyncGenerator<readonly [number, Promise<ScannedBlock | undefined>]> {
  const ahead: Promise<ScannedBlock | undefined>[] = [];
  // While a block that could not be read has not been taken, no block behind it is begun.
  const missing = new Set<number>();
  let taken = first - 1;
  let next = first;
  let underWay = 0;
  const mayBegin = (): boolean =>
    next <= last &&
    missing.size === 0 &&
    underWay < PARALLEL_READS &&
    ahead.length < READ_AHEAD &&
    (next === first || !enough());
  const begin = (number: number): Promise<ScannedBlock | undefined> => {
    const reading = read(number);
    underWay += 1;
    const settled = (block: ScannedBlock | undefined): void => {
      underWay -= 1;
      if (!block && number > taken) missing.add(number);
      readOn();
    };
    reading.then(settled, () => settled(undefined));
    return reading;
  };
  const readOn = (): void => {
    for (; mayBegin(); next += 1) ahead.push(begin(next));
  };
  try {
    while (taken < last) {
      readOn();
      const reading = ahead.shift();
      if (!reading) return;
      taken += 1;
      missing.delete(taken);
      readOn();
      // In a tuple: a generator would await a bare promise and throw its error here.
      yield [taken, reading];
    }
  } finally {
    next = last + 1;
  }
}
