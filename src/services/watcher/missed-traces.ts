import type { Deps } from '../deps.ts';
import { recordAgain } from './rescan.ts';
import type { WatchedChain } from './watched-chain.ts';

/**
 * Reads final blocks again whose trace could not be had when they were read, and records what the
 * trace shows. Returns how many deposits are new. What fails is logged and tried again by itself.
 */
export async function readMissedTraces(
  deps: Deps,
  { reader, watched, report }: WatchedChain,
  signal: AbortSignal,
): Promise<number> {
  const { missedTraces: missed, network } = reader;
  let found = 0;
  for (const number of missed?.due() ?? []) {
    signal.throwIfAborted();
    try {
      const block = await reader.scan(number, watched.index, signal);
      if (!block || block.untraced) continue;
      const deposits = await recordAgain(deps, reader, block);
      missed?.done(number);
      found += deposits;
      if (deposits > 0) report?.foundLate?.({ network, deposits });
    } catch (error) {
      signal.throwIfAborted();
      deps.log.warn(
        { err: error, network, block: number },
        'a block could not be read again for its trace; it is tried again',
      );
    }
  }
  return found;
}
