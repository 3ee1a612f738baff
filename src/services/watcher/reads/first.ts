import { addressKeyOf } from '../../../chains/addresses.ts';
import type { ChainReader, ScannedBlock } from '../../../chains/reader.ts';
import type { ChainCursor } from '../../../db/entities/index.ts';
import type { Deps } from '../../deps.ts';
import { type ChainHeights, commitBlocks } from '../commit.ts';
import { orNameCulprit } from '../culprit.ts';
import { cursorOf } from '../cursor.ts';
import { type Evidence, leaveOrRefuse } from '../reorg.ts';
import { orNoteStop } from '../stops.ts';
import type { WatchedChain } from '../watched-chain.ts';
import { BATCH_BLOCKS, readInOrder } from './in-order.ts';

/**
 * Deep in a backlog a poll reads more, because each begins with a pause
 * of its reads; but never for long, so that its progress is seen.
 */
const BACKLOG_BLOCKS = 1_920;
/**
 * Blocks without money that are committed together in a backlog, at the latest
 * when the poll ends: a transaction for each would cost more than reading it.
 */
const QUIET_TOGETHER = 48;
/** While finality stalls it is asked about with each head anyway. */
const MOST_AWAITED = 256;

/**
 * Whether the next block to scan has been final for so long that
 * its first read may count as its second; see docs/adr/0002.
 */
export function isBacklog({ pace }: ChainReader, cursor: ChainCursor, state: ChainHeights): boolean {
  return cursor.scannedNumber + 1 + pace.finalForLongBlocks <= state.finalizedNumber;
}

/** The first read of new blocks, in order, committed as they come. Returns how many were committed. */
export async function scanNew(
  deps: Deps,
  chain: WatchedChain,
  state: ChainHeights,
  evidence: Evidence,
): Promise<number> {
  const { signal } = evidence;
  const { reader, watched } = chain;
  let cursor = await cursorOf(deps, reader);
  // The blocks below must be verified already: the verified height vouches for all of them.
  const backlog = isBacklog(reader, cursor, state) && cursor.rereadNumber === cursor.scannedNumber;
  const isFinal = (number: number): boolean =>
    backlog && number + reader.pace.finalForLongBlocks <= state.finalizedNumber;
  const first = cursor.scannedNumber + 1;
  const last = Math.min(state.headNumber, cursor.scannedNumber + (backlog ? BACKLOG_BLOCKS : BATCH_BLOCKS));
  const until = deps.now().getTime() + reader.pace.backlogPollMs;
  const orStop = <T>(number: number, work: () => Promise<T>) =>
    orNoteStop(deps, { network: reader.network, part: 'first read', number, signal }, work);
  const read = (number: number) => reader.scan(number, watched.index, signal);
  const waiting: ScannedBlock[] = [];
  let scanned = 0;
  const commit = async (): Promise<void> => {
    const blocks = waiting.splice(0);
    if (blocks.length === 0) return;
    const final = isFinal(blocks.at(-1)?.number ?? 0);
    await orStop(cursor.scannedNumber + 1, () =>
      orNameCulprit(deps, { cursor, part: 'first read', blocks }, () =>
        commitBlocks(deps, cursor, blocks, state, { final }),
      ),
    );
    for (const block of blocks) noteDropped(deps, reader, block);
    noteAwaited(chain, blocks, state);
    noteGasMoved(chain, blocks);
    cursor = await cursorOf(deps, reader);
    scanned += blocks.length;
  };
  try {
    for await (const [number, reading] of readInOrder(
      first,
      last,
      read,
      () => backlog && deps.now().getTime() > until,
    )) {
      // Blocks that have been final for long are committed before
      // those that have not: the two are different promises.
      if (!isFinal(number)) await commit();
      // Awaited and noted when it is this block's turn: of those that
      // are read ahead, only the first that fails stops the rest.
      const block = await orStop(number, () => reading);
      if (!block) break;
      if (block.parentHash !== (waiting.at(-1)?.hash ?? cursor.scannedHash)) {
        await commit();
        await orStop(number, () => leaveOrRefuse(deps, reader, cursor, { block, evidence }));
        break;
      }
      waiting.push(block);
      if (!isFinal(number) || !isQuiet(block) || waiting.length >= QUIET_TOGETHER) await commit();
    }
  } finally {
    // Blocks that were read before a reading failed are committed too: they are complete, and linked.
    await commit();
  }
  return scanned;
}

function isQuiet(block: ScannedBlock): boolean {
  return block.transfers.length === 0 && block.unrecognised.length === 0;
}

/** What a block says of ours waits until that block is final; of very many the newest are remembered. */
function noteAwaited(
  chain: WatchedChain,
  blocks: readonly ScannedBlock[],
  { finalizedNumber }: ChainHeights,
): void {
  const ours = blocks.filter(({ transfers, sent }) => transfers.length > 0 || sent !== undefined);
  const awaited = [...(chain.awaited ?? []), ...ours.map(({ number }) => number)];
  // A block that took another one's place has its number too.
  chain.awaited = [...new Set(awaited)].filter((number) => number > finalizedNumber).slice(-MOST_AWAITED);
}

function noteGasMoved(chain: WatchedChain, blocks: readonly ScannedBlock[]): void {
  const { network, index } = chain.watched;
  const isGas = (wallet: string): boolean => {
    const key = addressKeyOf(network, wallet);
    return index.isOwn(key) && !index.has(key);
  };
  const moved = blocks.filter(({ fundsGas, sent }) => fundsGas || sent?.some(({ from }) => isGas(from)));
  if (moved.length > 0)
    chain.gasMoved = [...(chain.gasMoved ?? []), ...moved.map(({ number }) => number)].slice(-MOST_AWAITED);
}

function noteDropped(deps: Deps, reader: ChainReader, block: ScannedBlock): void {
  if (block.unrecognisedDropped === 0) return;
  deps.log.error(
    { network: reader.network, block: block.number, dropped: block.unrecognisedDropped },
    'more unknown tokens reached our addresses than are kept for one block',
  );
}
