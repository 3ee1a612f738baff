import type { BlockRef, ChainReader, FinalBlock } from '../../chains/reader.ts';
import type { ChainCursor } from '../../db/entities/index.ts';
import type { ChainPart } from '../../domain/chain-stop.ts';
import type { Deps } from '../deps.ts';
import { noteGasLevel, noteGasWallets } from '../payouts/gas.ts';
import { proveWaiting } from '../reconciliation/proof.ts';
import { FinalityContradiction, judgeFinal, topOf } from './anchor.ts';
import type { ChainHeights } from './commit.ts';
import { type Anchor, cursorOf, moveCursor } from './cursor.ts';
import { noteBlockTime } from './heads/block-time.ts';
import { forgetOldBlocks, keptHash } from './kept-blocks.ts';
import { isBacklog, scanNew } from './reads/first.ts';
import { readAgain } from './reads/second.ts';
import { type Evidence, leaveForFinal, rollBack } from './reorg.ts';
import { forgetStops } from './stops.ts';
import { wakeWaiting } from './wake.ts';
import { loadWatched } from './watched-addresses.ts';
import type { WatchedChain } from './watched-chain.ts';

/** What one poll of the chain did. `behind` says that there is more to read at once. */
export type Poll = {
  readonly scanned: number;
  readonly verified: number;
  readonly foundLate: number;
  readonly behind: boolean;
  readonly cursor: {
    /** Before it is read, the numbers of what was read lie one below. */
    readonly firstBlock: number;
    readonly scannedNumber: number;
    readonly verifiedNumber: number;
    readonly headNumber: number;
    readonly finalizedNumber: number;
  };
};

/** What the caller has asked for already. A final block that is not the newest does no harm. */
export type Known = { readonly head?: BlockRef; readonly final?: FinalBlock };

const NOTHING = { count: 0, foundLate: 0 } as const;
/**
 * A quiet chain is noted as read at least this often, so that
 * readiness can tell a quiet chain from one that does not answer.
 */
const POLL_NOTE_MS = 3_000;

/**
 * One poll of the chain: head, new blocks in order, replaced blocks, the second read of what became final.
 * Idempotent and fenced: a watcher that loses the compare-and-set gets `CursorMoved` and has changed
 * nothing. `known` saves the calls whose results the caller has just got. Throws the reader's errors.
 */
export async function pollChain(
  deps: Deps,
  chain: WatchedChain,
  signal: AbortSignal,
  known: Known = {},
): Promise<Poll> {
  const { reader, watched } = chain;
  const before = await cursorOf(deps, reader);
  const at = deps.now();
  const [head, final] = await Promise.all([
    known.head ?? reader.head(signal),
    known.final ?? reader.finalized(signal),
  ]);
  await noteBlockTime(deps, { before, head, at });
  // After the head is known and before its blocks are read: any address
  // that was shown to a payer of these blocks is committed by now.
  await loadWatched(deps, watched);
  await noteGasWallets(deps.orm.em.fork(), deps, reader.network, (key) => watched.index.isOwn(key));
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
  // Far behind, the blocks that are scanned already are read a second time first:
  // from then on one complete read of a block that is long final counts twice.
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
  await noteMovedGas(deps, chain, cursor);
  const { firstBlock, scannedNumber, verifiedNumber } = cursor;
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
  const heights = { firstBlock, scannedNumber, verifiedNumber, headNumber, finalizedNumber };
  return { scanned, verified: verified.count, foundLate: verified.foundLate, behind, cursor: heights };
}

/**
 * Leaves the branch that the cursor stands on when the head or the final block shows that it was replaced.
 */
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

/** The final block that the kept chain runs through now, if it is higher than the one known so far. */
async function anchorOf(deps: Deps, chain: WatchedChain, final: FinalBlock): Promise<Anchor | undefined> {
  const cursor = await cursorOf(deps, chain.reader);
  // Kept until the blocks below it are read: in a backlog the newest final
  // block is always above what was read. A lower one takes its place: a
  // block that was once named far above the chain might never be reached.
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
 * Looks for sleeping deposits only when the chain has moved since
 * none were left: on a chain that stands still this costs nothing.
 */
async function wake(deps: Deps, chain: WatchedChain, cursor: ChainCursor): Promise<void> {
  const place = `${cursor.headNumber}:${cursor.verifiedNumber}:${cursor.scannedHash}`;
  if (chain.wakeFor === place) return;
  const woken = await wakeWaiting(deps, cursor);
  if (woken === 0) chain.wakeFor = place;
}

/** Reads what a gas wallet holds once a block that moved it is verified, for whoever waits for it. */
async function noteMovedGas(
  deps: Deps,
  chain: WatchedChain,
  { network, verifiedNumber }: ChainCursor,
): Promise<void> {
  const left = chain.gasMoved?.filter((number) => number > verifiedNumber);
  if (left === undefined || left.length === chain.gasMoved?.length) return;
  chain.gasMoved = left;
  // It is looked at from time to time anyway.
  await noteGasLevel(deps, network, chain.reader, { moved: true }).catch((error: unknown) =>
    deps.log.debug({ err: error, network }, 'what the gas wallet holds could not be read yet'),
  );
}

/**
 * Whether a head below the cursor differs from what was scanned there: then
 * the branch that the cursor stands on was replaced by a shorter or equal one.
 */
async function standsOnReplaced(deps: Deps, cursor: ChainCursor, head: BlockRef): Promise<boolean> {
  // At or below the anchor it is the RPC endpoint that stands on a replaced block, or is far behind.
  if (head.number > cursor.scannedNumber || head.number <= cursor.anchoredNumber) return false;
  const known = await keptHash(deps, cursor.network, head.number);
  return known !== undefined && known !== head.hash;
}

/**
 * Writes what no commit of this poll has written: an anchor that
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
