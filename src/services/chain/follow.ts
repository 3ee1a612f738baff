import type { BlockRef, ChainReader, ScannedBlock } from '../../chain/port.ts';
import { ChainBlock, type ChainCursor } from '../../db/entities/index.ts';
import type { ChainPart } from '../../domain/chain-stop.ts';
import type { Deps } from '../deps.ts';
import { type ChainState, commitBlocks, commitVerified } from './commit.ts';
import { moveCursor, readCursor } from './cursor.ts';
import { readInOrder } from './read-in-order.ts';
import { rollBack } from './reorg.ts';
import type { ChainReport } from './report.ts';
import type { RoundPace } from './round.ts';
import { forgetStops, orNoteStop } from './stops.ts';
import { wakeWaiting } from './wake.ts';
import { loadWatched, type WatchedAddresses } from './watched.ts';

/** A chain with what one watcher remembers of it between two looks; all of it can be lost without harm. */
export type FollowedChain = {
  readonly reader: ChainReader;
  readonly watched: WatchedAddresses;
  readonly report?: ChainReport | undefined;
  /** How the reconciliation is paced; hourly where absent. */
  readonly pace?: RoundPace | undefined;
  wakeFor?: string;
};

/** What one look at the chain did. `behind` says that there is more to read at once. */
export type Look = {
  readonly scanned: number;
  readonly verified: number;
  readonly foundLate: number;
  readonly behind: boolean;
  readonly cursor: {
    readonly scannedNumber: number;
    readonly verifiedNumber: number;
    readonly headNumber: number;
    readonly finalizedNumber: number;
  };
};

/** Blocks read in one look near the head. */
const BATCH_BLOCKS = 24;
/** Deep in a backlog a look reads more, because each begins with a pause of its reads; but never for long, so that its progress is seen. */
const BACKLOG_BLOCKS = 1_920;
const BACKLOG_LOOK_MS = 2_000;
/** Blocks without money that are committed together in a backlog, at the latest when the look ends: a transaction for each would cost more than reading it. */
const QUIET_TOGETHER = 48;
/** A read this far below the finalized head was made when no endpoint in use could still be importing the block. */
const FINAL_FOR_LONG_BLOCKS = 128;
/** A quiet chain is noted as read at least this often, so that readiness can tell quiet from away. */
const POLL_NOTE_MS = 3_000;

/**
 * One look at the chain: head, new blocks in order, replaced blocks, the second read of what became final. Idempotent and fenced: whoever
 * loses the compare-and-set gets `CursorMoved` and has changed nothing. `newest` saves the call where the caller has just asked for the
 * head. Throws the reader's errors.
 */
export async function lookAtChain(deps: Deps, chain: FollowedChain, signal: AbortSignal, newest?: BlockRef): Promise<Look> {
  const { reader, watched } = chain;
  let cursor = await cursorOf(deps, reader);
  const [head, finalized] = await Promise.all([newest ?? reader.head(signal), reader.finalized(signal)]);
  // After the head is known and before its blocks are read: an address shown to a payer of these blocks was committed by now.
  await loadWatched(deps, watched);
  if (await standsOnReplaced(deps, cursor, head)) {
    await rollBack(deps, reader, cursor, head.number, signal);
    cursor = await cursorOf(deps, reader);
  }
  const headNumber = Math.max(head.number, cursor.scannedNumber);
  const state: ChainState = { headNumber, finalizedNumber: Math.min(finalized.number, headNumber) };
  // Far behind, what is scanned already is verified first: from then on one complete read of a block that is long final counts twice.
  const first = isBacklog(cursor, state) ? await verifyFinal(deps, chain, state, signal) : { count: 0, foundLate: 0 };
  // One read that fails does not keep the other from going on.
  const [scanning] = await Promise.allSettled([scanNew(deps, chain, state, signal)]);
  const second = await verifyFinal(deps, chain, state, signal);
  if (scanning.status === 'rejected') throw scanning.reason;
  const scanned = scanning.value;
  const verified = { count: first.count + second.count, foundLate: first.foundLate + second.foundLate };
  cursor = await cursorOf(deps, reader);
  if (scanned + verified.count === 0) await noteQuiet(deps, cursor, state);
  await forgetStops(deps, cursor, [...passed(cursor), 'roll-back']);
  await wake(deps, chain, cursor);
  const { scannedNumber, verifiedNumber } = cursor;
  chain.report?.heights?.({ network: reader.network, scanned: scannedNumber, head: state.headNumber, finalized: cursor.finalizedNumber });
  const behind = scannedNumber < state.headNumber || verifiedNumber < Math.min(state.finalizedNumber, scannedNumber);
  return { scanned, verified: verified.count, foundLate: verified.foundLate, behind, cursor: { scannedNumber, verifiedNumber, ...state } };
}

/** The reads that got past the block that had stopped them. */
function passed({ stops, scannedNumber, rereadNumber }: ChainCursor): ChainPart[] {
  const parts: ChainPart[] = [];
  if (scannedNumber >= (stops['first read']?.number ?? Number.POSITIVE_INFINITY)) parts.push('first read');
  if (rereadNumber >= (stops['second read']?.number ?? Number.POSITIVE_INFINITY)) parts.push('second read');
  return parts;
}

/** Whether the next block to scan has been final for so long that its first read may count as its second; see docs/adr/0005. */
function isBacklog(cursor: ChainCursor, state: ChainState): boolean {
  return cursor.scannedNumber + 1 + FINAL_FOR_LONG_BLOCKS <= state.finalizedNumber;
}

/** Looks for sleepers only when the chain moved since none were left: on a chain that stands still this costs nothing. */
async function wake(deps: Deps, chain: FollowedChain, cursor: ChainCursor): Promise<void> {
  const place = `${cursor.headNumber}:${cursor.verifiedNumber}:${cursor.scannedHash}`;
  if (chain.wakeFor === place) return;
  const woken = await wakeWaiting(deps, cursor);
  if (woken === 0) chain.wakeFor = place;
}

async function cursorOf(deps: Deps, reader: ChainReader): Promise<ChainCursor> {
  const cursor = await readCursor(deps, reader.network);
  if (!cursor) throw new Error(`the cursor of ${reader.network} is missing`);
  return cursor;
}

/** A head at or below the cursor that differs from what was scanned there: the branch we stand on was replaced by a shorter or equal one. */
async function standsOnReplaced(deps: Deps, cursor: ChainCursor, head: BlockRef): Promise<boolean> {
  if (head.number > cursor.scannedNumber) return false;
  const known = await deps.orm.em.fork().findOne(ChainBlock, { network: cursor.network, number: head.number });
  return known !== null && known.hash !== head.hash;
}

async function scanNew(deps: Deps, { reader, watched }: FollowedChain, state: ChainState, signal: AbortSignal): Promise<number> {
  let cursor = await cursorOf(deps, reader);
  // The blocks below must be verified already: the verified height stands for all of them.
  const backlog = isBacklog(cursor, state) && cursor.rereadNumber === cursor.scannedNumber;
  const isFinal = (number: number): boolean => backlog && number + FINAL_FOR_LONG_BLOCKS <= state.finalizedNumber;
  const first = cursor.scannedNumber + 1;
  const last = Math.min(state.headNumber, cursor.scannedNumber + (backlog ? BACKLOG_BLOCKS : BATCH_BLOCKS));
  const until = deps.now().getTime() + BACKLOG_LOOK_MS;
  const read = (number: number) =>
    orNoteStop(deps, { network: reader.network, part: 'first read', number, signal }, () => reader.scan(number, watched.index, signal));
  const waiting: ScannedBlock[] = [];
  let scanned = 0;
  const commit = async (): Promise<void> => {
    const blocks = waiting.splice(0);
    if (blocks.length === 0) return;
    const at = { network: reader.network, part: 'first read' as const, number: cursor.scannedNumber + 1, signal };
    await orNoteStop(deps, at, () => commitBlocks(deps, cursor, blocks, state, { final: isFinal(blocks.at(-1)?.number ?? 0) }));
    for (const block of blocks) noteDropped(deps, reader, block);
    cursor = await cursorOf(deps, reader);
    scanned += blocks.length;
  };
  try {
    for await (const [number, reading] of readInOrder(first, last, read, () => backlog && deps.now().getTime() > until)) {
      // What was final for long is committed before what was not: the two are different promises.
      if (!isFinal(number)) await commit();
      const block = await reading;
      if (!block) break;
      if (block.parentHash !== (waiting.at(-1)?.hash ?? cursor.scannedHash)) {
        await commit();
        await rollBack(deps, reader, cursor, state.headNumber, signal);
        break;
      }
      waiting.push(block);
      if (!isFinal(number) || !isQuiet(block) || waiting.length >= QUIET_TOGETHER) await commit();
    }
  } finally {
    // Also what was read before a reading failed: it is complete, and linked.
    await commit();
  }
  return scanned;
}

function isQuiet(block: ScannedBlock): boolean {
  return block.transfers.length === 0 && block.unrecognised.length === 0;
}

async function verifyFinal(
  deps: Deps,
  { reader, watched, report }: FollowedChain,
  state: ChainState,
  signal: AbortSignal,
): Promise<{ count: number; foundLate: number }> {
  let cursor = await cursorOf(deps, reader);
  const first = cursor.rereadNumber + 1;
  const last = Math.min(state.finalizedNumber, cursor.scannedNumber, cursor.rereadNumber + BATCH_BLOCKS);
  let count = 0;
  let foundLate = 0;
  const orStop = <T>(number: number, work: () => Promise<T>) =>
    orNoteStop(deps, { network: reader.network, part: 'second read', number, signal }, work);
  const read = (number: number) => orStop(number, () => reader.scan(number, watched.index, signal));
  for await (const [, reading] of readInOrder(first, last, read)) {
    const block = await reading;
    if (!block) break;
    const known = await deps.orm.em.fork().findOne(ChainBlock, { network: cursor.network, number: block.number });
    if (known && known.hash !== block.hash) {
      await rollBack(deps, reader, cursor, state.headNumber, signal);
      break;
    }
    const commit = await orStop(block.number, () => commitVerified(deps, cursor, block, state));
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

function noteDropped(deps: Deps, reader: ChainReader, block: ScannedBlock): void {
  if (block.unrecognisedDropped === 0) return;
  deps.log.error(
    { network: reader.network, block: block.number, dropped: block.unrecognisedDropped },
    'more unknown tokens reached our addresses than are kept for one block',
  );
}

async function noteQuiet(deps: Deps, cursor: ChainCursor, state: ChainState): Promise<void> {
  const moved = state.headNumber !== cursor.headNumber || state.finalizedNumber > cursor.finalizedNumber;
  const old = deps.now().getTime() - cursor.polledAt.getTime() > POLL_NOTE_MS;
  if (!moved && !old && cursor.fault == null) return;
  await moveCursor(deps.orm.em.fork(), deps, cursor, state);
}
