import type { BlockRef, ChainReader } from './reader.ts';
import { RpcUnavailable } from './rpc/errors.ts';

/**
 * The first block with a timestamp at or after `timestampMs` (milliseconds since 1970); the head where all
 * blocks are older. Goes back from the head in doubling steps and then halves the range, so that it asks only
 * for headers near the time it searches for: a pruned node has no old ones. A header that no endpoint has is
 * an error, never a guess, because a block too late means money not seen.
 */
export async function firstBlockSince(
  reader: ChainReader,
  timestampMs: number,
  signal: AbortSignal,
): Promise<BlockRef> {
  let known: BlockRef = await reader.head(signal); // The lowest block known to be late enough.
  if (known.timestampMs < timestampMs) return known;
  let low = -1; // The highest number known to be too early.
  for (let step = 1; known.number > 0; step *= 2) {
    const number = Math.max(0, known.number - step);
    const ref = await headerOf(reader, number, signal);
    if (ref.timestampMs < timestampMs) {
      low = number;
      break;
    }
    known = ref;
  }
  while (known.number - low > 1) {
    const ref = await headerOf(reader, low + Math.floor((known.number - low) / 2), signal);
    if (ref.timestampMs < timestampMs) low = ref.number;
    else known = ref;
  }
  return known;
}

async function headerOf(reader: ChainReader, number: number, signal: AbortSignal): Promise<BlockRef> {
  const ref = await reader.header(number, signal);
  if (!ref)
    throw new RpcUnavailable(
      `no endpoint of ${reader.network} has block ${number}: add an endpoint that keeps the headers back to the first address`,
      reader.network,
    );
  return ref;
}
