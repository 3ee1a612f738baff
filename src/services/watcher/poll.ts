import type { BlockRef, ChainReader, FinalBlock, ScannedBlock } from '../../chains/reader.ts';
import type { ChainCursor } from '../../db/entities/index.ts';
import type { ChainPart } from '../../domain/chain-stop.ts';
import type { Deps } from '../deps.ts';
import { proveWaiting } from '../reconciliation/proof.ts';
import { FinalityContradiction, judgeFinal, topOf } from './anchor.ts';
import { BranchUnclear } from './branch.ts';
import { type ChainHeights, commitBlocks, commitVerified } from './commit.ts';
import { orNameCulprit } from './culprit.ts';
import { type Anchor, moveCursor, readCursor } from './cursor.ts';
import { forgetOldBlocks, keptHash } from './kept-blocks.ts';
import { readInOrder } from './read-in-order.ts';
import { type Evidence, leaveForFinal, rollBack } from './reorg.ts';
import { forgetStops, orNoteStop } from './stops.ts';
import { wakeWaiting } from './wake.ts';
import { loadWatched } from './watched-addresses.ts';
import type { WatchedChain } from './watched-chain.ts';

/** What one look at the chain did. `behind` says that there is more to read at once. */
export type Poll = {
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

/** What the caller has asked for already. An older final block than the newest does no harm. */
export type Known = { readonly head?: BlockRef; readonly final?: FinalBlock };

/** Blocks read in one look near the head. */
const BATCH_BLOCKS = 24;
/**
 * Deep in a backlog a look reads more, because each begins with a pause
 * of its reads; but never for long, so that its progress is seen.
 */
const BACKLOG_BLOCKS = 1_920;
const BACKLOG_POLL_MS = 2_000;
/**
 * Blocks without money that are committed together in a backlog, at the latest
 * when the look ends: a transaction for each would cost more than reading it.
 */
const QUIET_TOGETHER = 48;
const NOTHING = { count: 0, foundLate: 0 } as const;
/** A quiet chain is noted as read at least this often, so that readiness can tell quiet from away. */
const POLL_NOTE_MS = 3_000;

/**
 * One look at the chain: head, new blocks in order, replaced blocks, the second read of what became
 * final. Idempotent and fenced: whoever loses the compare-and-set gets `CursorMoved` and has changed
 * nothing. `known` saves the calls where the caller has just asked. Throws the reader's errors.
 */
export async function pollChain(
  deps: Deps,
  chain: WatchedChain,
  signal: AbortSignal,
  known: Known = {},
): Promise<Poll> {
  const { reader, watched } = chain;
  const before = await cursorOf(deps, reader);
  const [head, final] = await Promise.all([
    known.head ?? reader.head(signal),
    known.final ?? reader.finalized(signal),
  ]);
  // After the head is known and before its blocks are read: an
  // address shown to a payer of these blocks was committed by now.
  await loadWatched(deps, watched);
  const headNumber = Math.max(head.number, before.scannedNumber);
  const evidence: Evidence = { headNumber, final, signal };
  const [contradiction] = await Promise.allSettled([settleBranch(deps, reader, before, head, evidence)]);
  const mayVerify = !(
    contradiction.status === 'rejected' && contradiction.reason instanceof FinalityContradiction
  );
  let state: ChainHeights = {
    headNumber,
    finalizedNumber: Math.min(final.number, headNumber),
    anchored: await anchorOf(deps, chain, final),
  };
  // Far behind, what is scanned already is read a second time first: from
  // then on one complete read of a block that is long final counts twice.
  const first =
    mayVerify && isBacklog(reader, await cursorOf(deps, reader), state)
      ? await readAgain(deps, chain, state, evidence)
      : NOTHING;
  // One part that fails does not keep the others from going on.
  const [scanning] = await Promise.allSettled([scanNew(deps, chain, state, evidence)]);
  state = { ...state, anchored: await anchorOf(deps, chain, final) };
  const second = mayVerify ? await readAgain(deps, chain, state, evidence) : NOTHING;
  const verified = { count: first.count + second.count, foundLate: first.foundLate + second.foundLate };
  const cursor = await noteRest(deps, reader, before, state);
  const isSettled = contradiction.status === 'fulfilled' && scanning.status === 'fulfilled';
  await forgetStops(deps, cursor, [...passed(cursor), ...(isSettled ? ['roll-back' as const] : [])]);
  await forgetOldBlocks(deps, before, cursor);
  await proveWaiting(deps, chain, cursor, signal);
  await wake(deps, chain, cursor);
  const { scannedNumber, verifiedNumber } = cursor;
  chain.report?.heights?.({
    network: reader.network,
    scanned: scannedNumber,
    head: state.headNumber,
    finalized: cursor.finalizedNumber,
  });
  for (const part of [contradiction, scanning]) if (part.status === 'rejected') throw part.reason;
  const scanned = scanning.status === 'fulfilled' ? scanning.value : 0;
  const behind =
    scannedNumber < state.headNumber || cursor.rereadNumber < Math.min(state.finalizedNumber, scannedNumber);
  const { finalizedNumber } = state;
  const heights = { scannedNumber, verifiedNumber, headNumber, finalizedNumber };
  return { scanned, verified: verified.count, foundLate: verified.foundLate, behind, cursor: heights };
}

/** Leaves the branch that we stand on where the head or the final block show that it was replaced. */
async function settleBranch(
  deps: Deps,
  reader: ChainReader,
  cursor: ChainCursor,
  head: BlockRef,
  evidence: Evidence,
): Promise<void> {
  const judged = await judgeFinal(deps, cursor, evidence.final);
  if (judged.kind === 'differs')
    await leaveForFinal(deps, reader, cursor, { ...evidence, final: judged.block, named: evidence.final });
  else if (await standsOnReplaced(deps, cursor, head)) await rollBack(deps, reader, cursor, evidence);
}

/** The final block that the kept chain runs through now, where it is higher than the one known so far. */
async function anchorOf(deps: Deps, chain: WatchedChain, final: FinalBlock): Promise<Anchor | undefined> {
  const cursor = await cursorOf(deps, chain.reader);
  // Kept until the blocks below it are read: in a backlog the newest final
  // block is always further than what was read. A lower one takes its place:
  // the block that was named far above the chain once is never reached.
  if (
    !final.isAwaited &&
    topOf(final) > cursor.scannedNumber &&
    final.number < (chain.named?.number ?? Number.POSITIVE_INFINITY)
  )
    chain.named = final;
  const reached = [chain.named, final].filter(
    (named) => named !== undefined && topOf(named) <= cursor.scannedNumber,
  );
  if (chain.named && reached.includes(chain.named)) delete chain.named;
  let anchor: Anchor | undefined;
  for (const named of reached) {
    if (!named || named.number <= (anchor?.number ?? -1)) continue;
    if ((await judgeFinal(deps, cursor, named)).kind === 'anchors')
      anchor = { number: named.number, hash: named.hash };
  }
  return anchor;
}

/** The reads that got past the block that had stopped them. */
function passed({ stops, scannedNumber, rereadNumber }: ChainCursor): ChainPart[] {
  const parts: ChainPart[] = [];
  if (scannedNumber >= (stops['first read']?.number ?? Number.POSITIVE_INFINITY)) parts.push('first read');
  if (rereadNumber >= (stops['second read']?.number ?? Number.POSITIVE_INFINITY)) parts.push('second read');
  return parts;
}

/**
 * Whether the next block to scan has been final for so long that
 * its first read may count as its second; see docs/adr/0005.
 */
function isBacklog({ pace }: ChainReader, cursor: ChainCursor, state: ChainHeights): boolean {
  return cursor.scannedNumber + 1 + pace.finalForLongBlocks <= state.finalizedNumber;
}

/**
 * Looks for sleepers only when the chain moved since none
 * were left: on a chain that stands still this costs nothing.
 */
async function wake(deps: Deps, chain: WatchedChain, cursor: ChainCursor): Promise<void> {
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

/**
 * A head below the cursor that differs from what was scanned there:
 * the branch we stand on was replaced by a shorter or equal one.
 */
async function standsOnReplaced(deps: Deps, cursor: ChainCursor, head: BlockRef): Promise<boolean> {
  // At or below the anchor it is the endpoint that stands on a replaced block, or is far behind.
  if (head.number > cursor.scannedNumber || head.number <= cursor.anchoredNumber) return false;
  const known = await keptHash(deps, cursor.network, head.number);
  return known !== undefined && known !== head.hash;
}

async function scanNew(
  deps: Deps,
  { reader, watched }: WatchedChain,
  state: ChainHeights,
  evidence: Evidence,
): Promise<number> {
  const { signal } = evidence;
  let cursor = await cursorOf(deps, reader);
  // The blocks below must be verified already: the verified height stands for all of them.
  const backlog = isBacklog(reader, cursor, state) && cursor.rereadNumber === cursor.scannedNumber;
  const isFinal = (number: number): boolean =>
    backlog && number + reader.pace.finalForLongBlocks <= state.finalizedNumber;
  const first = cursor.scannedNumber + 1;
  const last = Math.min(state.headNumber, cursor.scannedNumber + (backlog ? BACKLOG_BLOCKS : BATCH_BLOCKS));
  const until = deps.now().getTime() + BACKLOG_POLL_MS;
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
      // What was final for long is committed before what was not: the two are different promises.
      if (!isFinal(number)) await commit();
      // Noted at its turn: of those that are read ahead, only the first that fails stops the rest.
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
    // Also what was read before a reading failed: it is complete, and linked.
    await commit();
  }
  return scanned;
}

function isQuiet(block: ScannedBlock): boolean {
  return block.transfers.length === 0 && block.unrecognised.length === 0;
}

/** The second read of what is final: what it shows is what the block holds. */
async function readAgain(
  deps: Deps,
  { reader, watched, report }: WatchedChain,
  state: ChainHeights,
  evidence: Evidence,
): Promise<{ count: number; foundLate: number }> {
  const { signal } = evidence;
  let cursor = await cursorOf(deps, reader);
  const first = cursor.rereadNumber + 1;
  const last = Math.min(state.finalizedNumber, cursor.scannedNumber, cursor.rereadNumber + BATCH_BLOCKS);
  let count = 0;
  let foundLate = 0;
  const orStop = <T>(number: number, work: () => Promise<T>) =>
    orNoteStop(deps, { network: reader.network, part: 'second read', number, signal }, work);
  for await (const [number, reading] of readInOrder(first, last, (one) =>
    reader.scan(one, watched.index, signal),
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

/**
 * A block that does not fit to ours: either our branch was
 * replaced, or the endpoint that gave it stands on one that was.
 */
async function leaveOrRefuse(
  deps: Deps,
  reader: ChainReader,
  cursor: ChainCursor,
  { block, evidence }: { readonly block: BlockRef; readonly evidence: Evidence },
): Promise<void> {
  if (await rollBack(deps, reader, cursor, evidence)) return;
  throw new BranchUnclear(
    `block ${block.number} of ${reader.network} was given as ${block.hash}, which is not on the branch that the best endpoint has: an endpoint stands on a replaced block`,
  );
}

function noteDropped(deps: Deps, reader: ChainReader, block: ScannedBlock): void {
  if (block.unrecognisedDropped === 0) return;
  deps.log.error(
    { network: reader.network, block: block.number, dropped: block.unrecognisedDropped },
    'more unknown tokens reached our addresses than are kept for one block',
  );
}

/**
 * Writes what no commit of this look has written: an anchor that
 * moved, heights, and from time to time that the chain was read.
 */
async function noteRest(
  deps: Deps,
  reader: ChainReader,
  before: ChainCursor,
  state: ChainHeights,
): Promise<ChainCursor> {
  const cursor = await cursorOf(deps, reader);
  const { anchored } = state;
  const moved = state.headNumber !== cursor.headNumber || state.finalizedNumber > cursor.finalizedNumber;
  const old = deps.now().getTime() - cursor.polledAt.getTime() > POLL_NOTE_MS;
  const rises =
    anchored !== undefined &&
    anchored.number > cursor.anchoredNumber &&
    anchored.number <= cursor.scannedNumber;
  const quiet = cursor.version === before.version && (moved || old || cursor.fault != null);
  if (!rises && !quiet) return cursor;
  await moveCursor(deps.orm.em.fork(), deps, cursor, { ...state, anchored: rises ? anchored : undefined });
  return await cursorOf(deps, reader);
}
