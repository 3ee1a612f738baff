// What is read ahead of a block that cannot be read is thrown away. Each request of it counts for the day, so
// after one attempt in vain the blocks above wait for the next one.
import { RpcUnavailable } from '../../rpc/errors.ts';

/** Nobody reads further ahead than this. */
const AHEAD_BLOCKS = 24;
/** So many blocks are remembered; what is forgotten costs some requests. */
const REMEMBERED = 100;

/**
 * Reads the block of a height. Where one a little below could not be read the last time and is being read
 * again, that one is awaited first, and where it still cannot be read, that is the outcome here as well.
 */
type ReadInTurn = <T>(number: number, read: () => Promise<T | undefined>) => Promise<T | undefined>;

/** Makes the memory of one kind of reads of a reader. */
export function createInVain(): ReadInTurn {
  /** The blocks that could not be read, and whether they can be now, where that is being found out. */
  const failed = new Map<number, Promise<unknown> | undefined>();
  const awaitedBefore = (number: number): Promise<unknown> | undefined => {
    for (let below = number - 1; below >= number - AHEAD_BLOCKS; below -= 1) {
      const again = failed.get(below);
      if (again) return again;
    }
    return undefined;
  };
  const note = (number: number, isThere: boolean): void => {
    failed.delete(number);
    if (isThere) return;
    failed.set(number, undefined);
    const [oldest] = failed.keys();
    if (failed.size > REMEMBERED && oldest !== undefined) failed.delete(oldest);
  };

  return async (number, read) => {
    const before = awaitedBefore(number);
    const reading = before ? isThere(before).then((there) => (there ? read() : undefined)) : read();
    if (failed.has(number)) failed.set(number, reading);
    try {
      const block = await reading;
      note(number, block !== undefined);
      return block;
    } catch (error) {
      note(number, false);
      throw error;
    }
  };
}

/** Throws why no endpoint gave it. A read that its own caller ended says nothing. */
async function isThere(reading: Promise<unknown>): Promise<boolean> {
  try {
    return (await reading) !== undefined;
  } catch (error) {
    if (error instanceof RpcUnavailable) throw error;
    return true;
  }
}
