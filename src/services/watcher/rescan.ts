import { LockMode } from '@mikro-orm/core';
import { pause } from '../../base/async/pause.ts';
import type { ChainReader, ScannedBlock } from '../../chains/reader.ts';
import { ChainBlock, ChainCursor, type Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { reopenSent } from '../payouts/sent.ts';
import { allowanceOf } from '../reconciliation/allowance.ts';
import { type Tx, transact } from '../transact.ts';
import { readCursor } from './cursor.ts';
import { readInOrder } from './reads/in-order.ts';
import { pricesFor, recordTransfers } from './record-transfers.ts';
import { deniedByTwo, markVerified } from './verify.ts';
import { loadWatched } from './watched-addresses.ts';
import type { WatchedChain } from './watched-chain.ts';

export type RescanResult = { readonly blocks: number; readonly found: number };
export type RescanProgress = {
  readonly blocks: number;
  readonly total: number;
  readonly found: number;
  readonly block: number;
};

/**
 * The range cannot be read again now. `nextBlock` is where to
 * go on: every block below it is done. The message says why.
 */
export class RescanStopped extends Error {
  override readonly name = 'RescanStopped';
  readonly nextBlock: number;

  constructor(reason: string, nextBlock: number, options?: { cause?: unknown }) {
    super(reason, options);
    this.nextBlock = nextBlock;
  }
}

const READS_OF_A_BLOCK = 5;
const PAUSE_MS = 1_000;

/**
 * Reads blocks again, in order, and records the deposits that were missed; the identity of a deposit
 * makes a repeat harmless. Reads only blocks that the watcher has scanned, each in one transaction
 * that holds the cursor still, so that a replaced block is never recorded. Blocks that were read twice
 * get their deposits marked as verified; one that was verified is withdrawn only when a second RPC
 * endpoint does not show it either. What they show of payouts that are not over counts anew.
 * Throws {@link RescanStopped}; what was recorded until then stays.
 */
export async function rescan(
  deps: Deps,
  { reader, watched }: WatchedChain,
  range: {
    readonly from: number;
    readonly to: number;
    readonly signal: AbortSignal;
    readonly progress: (at: RescanProgress) => void;
  },
): Promise<RescanResult> {
  const { from, to, signal } = range;
  await refuseUnscanned(deps, reader, from, to);
  await loadWatched(deps, watched);
  const total = to - from + 1;
  let found = 0;
  let before: ScannedBlock | undefined;
  for await (const [number, read] of readInOrder(from, to, (wanted) =>
    reader.scan(wanted, watched.index, signal),
  )) {
    const block = await patiently(read, () => reader.scan(number, watched.index, signal), number, signal);
    if (before && block.parentHash !== before.hash)
      throw new RescanStopped(
        `block ${number} does not follow the one before: the chain is being replaced just now`,
        number - 1,
      );
    found += await recordAgain(deps, reader, block, {
      denied: await deniedByTwo(deps, { reader, watched }, block, signal),
    });
    before = block;
    range.progress({ blocks: number - from + 1, total, found, block: number });
  }
  return { blocks: total, found };
}

async function refuseUnscanned(deps: Deps, reader: ChainReader, from: number, to: number): Promise<void> {
  const cursor = await readCursor(deps, reader.network);
  if (!cursor)
    throw new RescanStopped(`${reader.network} was never watched: a running worker begins with it`, from);
  if (to > cursor.scannedNumber)
    throw new RescanStopped(
      `block ${to} was not read for the first time yet: ${reader.network} was watched up to ${cursor.scannedNumber}`,
      from,
    );
}

/**
 * Records what a block that the watcher has scanned holds for us, in one transaction that holds the
 * cursor still; returns how many deposits are new. `claimed`: a transaction whose money becomes a
 * deposit however little it is. `denied`: verified deposits that two RPC endpoints do not show; no other
 * verified deposit is withdrawn. Throws {@link RescanStopped} when the block was replaced meanwhile.
 */
export async function recordAgain(
  deps: Deps,
  reader: ChainReader,
  block: ScannedBlock,
  {
    claimed,
    denied,
    reason,
  }: {
    readonly claimed?: string;
    readonly denied?: ReadonlySet<string>;
    readonly reason?: string | undefined;
  } = {},
): Promise<number> {
  const prices = await pricesFor(deps, block.transfers);
  return await transact(deps, async (tx: Tx) => {
    const cursor = await holdCursorAt(tx.em, reader, block);
    const { network } = reader;
    const { headNumber } = cursor;
    const isWhole = (deposit: Deposit): boolean =>
      !block.untraced || deposit.currency !== NATIVE_CURRENCY[network];
    await reopenSent(tx.em, deps, { network, block });
    const { record, shown } = await allowanceOf(tx, deps, { network, block, headNumber, isWhole });
    const { created, unproven } = await recordTransfers(tx, deps, {
      network,
      block: record,
      prices,
      headNumber,
      again: true,
      claimed,
    });
    // As the second read does: it does not come back to a block,
    // and the height that counts as verified moves on by itself.
    if (block.number <= cursor.rereadNumber)
      await markVerified(tx.em, deps, { network, block: shown, unproven, denied: denied ?? new Set() });
    const action = claimed === undefined ? 'rescan' : 'deposit.claim';
    const after = { network, block: block.number, new_deposits: created };
    if (created > 0)
      await recordAction(tx.em, deps, {
        action,
        subject: claimed ?? `${network}:${block.number}`,
        after,
        reason,
      });
    return created;
  });
}

/**
 * Reads the cursor under a shared lock: a watcher that rolls back or moves on waits
 * for the end of this transaction, and this one sees what the watcher did before.
 * Throws {@link RescanStopped} when the block is not the one that was read.
 */
export async function holdCursorAt(
  em: Em,
  reader: ChainReader,
  block: Pick<ScannedBlock, 'number' | 'hash'>,
): Promise<ChainCursor> {
  const cursor = await holdCursor(em, reader, block.number);
  await refuseReplaced(em, cursor, block);
  return cursor;
}

async function holdCursor(em: Em, reader: ChainReader, number: number): Promise<ChainCursor> {
  const cursor = await em.findOneOrFail(ChainCursor, reader.network, { lockMode: LockMode.PESSIMISTIC_READ });
  if (number > cursor.scannedNumber)
    throw new RescanStopped(`block ${number} was replaced meanwhile and is not read again yet`, number);
  return cursor;
}

async function refuseReplaced(
  em: Em,
  cursor: ChainCursor,
  block: Pick<ScannedBlock, 'number' | 'hash'>,
): Promise<void> {
  const known = await em.findOne(ChainBlock, { network: cursor.network, number: block.number });
  if (known && known.hash !== block.hash)
    throw new RescanStopped(
      `block ${block.number} is another one at the endpoints than the one the watcher read: it is being replaced`,
      block.number,
    );
}

/** One block, with some patience for endpoints that fail or lag. */
async function patiently(
  first: Promise<ScannedBlock | undefined>,
  again: () => Promise<ScannedBlock | undefined>,
  number: number,
  signal: AbortSignal,
): Promise<ScannedBlock> {
  let cause: unknown;
  for (let tries = 1; tries <= READS_OF_A_BLOCK; tries += 1) {
    try {
      const block = await (tries === 1 ? first : again());
      if (block) return block;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (signal.aborted) throw new RescanStopped('it was interrupted', number, { cause: signal.reason });
    if (tries < READS_OF_A_BLOCK) await pause(PAUSE_MS, signal).catch(() => undefined);
  }
  const why = cause instanceof Error ? cause.message : 'no endpoint has it';
  throw new RescanStopped(`block ${number} could not be read: ${why}`, number, { cause });
}
