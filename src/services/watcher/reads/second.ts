import type { ScannedBlock } from '../../../chains/reader.ts';
import type { Deps } from '../../deps.ts';
import { type ChainHeights, commitVerified } from '../commit.ts';
import { orNameCulprit } from '../culprit.ts';
import { cursorOf } from '../cursor.ts';
import { keptHash, quietBlock } from '../kept-blocks.ts';
import { type Evidence, leaveOrRefuse } from '../reorg.ts';
import { orNoteStop } from '../stops.ts';
import type { WatchedChain } from '../watched-chain.ts';
import { BATCH_BLOCKS, readInOrder } from './in-order.ts';

/** The second read of what is final: what it shows is what the block holds. */
export async function readAgain(
  deps: Deps,
  chain: WatchedChain,
  state: ChainHeights,
  evidence: Evidence,
): Promise<{ count: number; foundLate: number }> {
  const { reader, report } = chain;
  const { signal } = evidence;
  let cursor = await cursorOf(deps, reader);
  const first = cursor.rereadNumber + 1;
  const last = Math.min(state.finalizedNumber, cursor.scannedNumber, cursor.rereadNumber + BATCH_BLOCKS);
  let count = 0;
  let foundLate = 0;
  const orStop = <T>(number: number, work: () => Promise<T>) =>
    orNoteStop(deps, { network: reader.network, part: 'second read', number, signal }, work);
  for await (const [number, reading] of readInOrder(first, last, (one) =>
    readOnceMore(deps, chain, one, signal),
  )) {
    const block = await orStop(number, () => reading);
    if (!block) break;
    const known = await keptHash(deps, cursor.network, block.number);
    if (known !== undefined && known !== block.hash) {
      await orStop(block.number, () => leaveOrRefuse(deps, reader, cursor, { block, evidence }));
      break;
    }
    const commit = await orStop(block.number, () =>
      orNameCulprit(deps, { cursor, part: 'second read', blocks: [block] }, () =>
        commitVerified(deps, cursor, block, state),
      ),
    );
    if (commit.foundLate > 0) {
      report?.foundLate?.({ network: reader.network, deposits: commit.foundLate });
      deps.log.warn(
        { network: reader.network, block: block.number, deposits: commit.foundLate },
        'the second read found deposits that the first had missed',
      );
    }
    foundLate += commit.foundLate;
    cursor = await cursorOf(deps, reader);
    count += 1;
  }
  return { count, foundLate };
}

/** The whole block, or the one that did not touch us and still does not, where the chain can tell that. */
async function readOnceMore(
  deps: Deps,
  { reader, watched }: WatchedChain,
  number: number,
  signal: AbortSignal,
): Promise<ScannedBlock | undefined> {
  const quiet = reader.confirm && (await quietBlock(deps, reader.network, number));
  if (quiet) {
    const isQuiet = await reader.confirm?.(quiet, watched.index, signal);
    if (isQuiet === undefined) return undefined;
    if (isQuiet) return { ...quiet, transfers: [], unrecognised: [], unrecognisedDropped: 0 };
  }
  return await reader.scan(number, watched.index, signal);
}
