import type { BlockRef, ChainReader } from '../../chains/reader.ts';
import { ChainCursor } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import { fitted, MAX_REASON } from '../../domain/text.ts';
import type { Deps } from '../deps.ts';

/**
 * Another watcher moved the cursor first. Nothing of this
 * transaction was kept; the caller starts again from the new cursor.
 */
export class CursorMoved extends Error {
  override readonly name = 'CursorMoved';
}

/** The readers that were found to read the chain that was read before; a start does not wait for that. */
const PROVEN = new WeakSet<ChainReader>();
const BEFORE_OLDEST_MS = 10 * 60_000;

/**
 * A kept block that an RPC endpoint named as final, by its hash;
 * the hash is null only at the place where watching began.
 */
export type Anchor = { readonly number: number; readonly hash: string | null };

export type CursorChange = Partial<{
  scannedNumber: number;
  scannedHash: string;
  /** Every block up to this one had the read that decides what it holds. */
  rereadNumber: number;
  anchored: Anchor | undefined;
  headNumber: number;
  finalizedNumber: number;
}>;

/** Reads the cursor of a network, if the chain was ever watched. */
export async function readCursor(deps: Deps, network: Network): Promise<ChainCursor | null> {
  return await deps.orm.em.fork().findOne(ChainCursor, network);
}

/** {@link readCursor} of a chain that is watched already: without a cursor it throws. */
export async function cursorOf(deps: Deps, reader: ChainReader): Promise<ChainCursor> {
  const cursor = await readCursor(deps, reader.network);
  if (!cursor) throw new Error(`the cursor of ${reader.network} is missing`);
  return cursor;
}

/**
 * Moves the cursor inside the caller's transaction. The version makes it a compare-and-set:
 * of two watchers one gets {@link CursorMoved}. Times of the last movement of head,
 * finality and both reads are kept for readiness and for the reasons that operators read.
 * The verified height follows from the reads and the anchor by itself.
 */
export async function moveCursor(
  em: Em,
  deps: Deps,
  cursor: ChainCursor,
  change: CursorChange,
): Promise<void> {
  const now = deps.now();
  const head = change.headNumber ?? cursor.headNumber;
  // It never falls, except to the head: no block above the head is final,
  // so a height that one response named far above the chain must not stay.
  const finalized = Math.min(
    Math.max(change.finalizedNumber ?? 0, cursor.finalizedNumber),
    Math.max(head, 0),
  );
  const scanned = change.scannedNumber ?? cursor.scannedNumber;
  const reread = change.rereadNumber ?? cursor.rereadNumber;
  const anchored: Anchor = change.anchored ?? {
    number: cursor.anchoredNumber,
    hash: cursor.anchoredHash ?? null,
  };
  const verified = Math.min(reread, anchored.number);
  const moved = await run(
    em,
    sql`update chain_cursors set
       scanned_number = ${scanned},
       scanned_hash = ${change.scannedHash ?? cursor.scannedHash},
       reread_number = ${reread},
       anchored_number = ${anchored.number},
       anchored_hash = ${anchored.hash},
       head_number = ${head},
       finalized_number = ${finalized},
       moved_at = ${head === cursor.headNumber ? cursor.movedAt : now},
       finalized_moved_at = ${finalized === cursor.finalizedNumber ? cursor.finalizedMovedAt : now},
       scanned_moved_at = ${scanned === cursor.scannedNumber ? cursor.scannedMovedAt : now},
       verified_moved_at = ${verified === cursor.verifiedNumber ? cursor.verifiedMovedAt : now},
       polled_at = ${now}, fault = null, version = version + 1
     where network = ${cursor.network} and version = ${cursor.version}`,
  );
  if (moved !== 1) throw new CursorMoved(`the cursor of ${cursor.network} was moved by another watcher`);
}

/** Notes why the chain could not be read, for readiness and for operators. Does not move the cursor. */
export async function noteFault(deps: Deps, network: Network, fault: string): Promise<void> {
  await run(
    deps.orm.em.fork(),
    sql`update chain_cursors set fault = ${fitted(fault, MAX_REASON)} where network = ${network}`,
  );
}

/**
 * Proves that the endpoints serve the configured chain, the one that was read before, and keeps what tells it
 * from every other one where that was not known. Throws the reader's errors.
 */
export async function proveIdentity(deps: Deps, reader: ChainReader, signal: AbortSignal): Promise<string> {
  const { network } = reader;
  const known = (await readCursor(deps, network))?.identity ?? undefined;
  const identity = await reader.checkIdentity(signal, known);
  PROVEN.add(reader);
  if (known === undefined)
    await run(
      deps.orm.em.fork(),
      sql`update chain_cursors set identity = ${identity} where network = ${network} and identity is null`,
    );
  return identity;
}

/**
 * Makes the cursor if there is none: it starts before the first block that can hold
 * money for us (ten minutes before the oldest live address, by block time), or at
 * the finalized head when no address exists. The place is found once and stored.
 */
export async function openCursor(
  deps: Deps,
  reader: ChainReader,
  firstBlockSince: (reader: ChainReader, timestampMs: number, signal: AbortSignal) => Promise<BlockRef>,
  signal: AbortSignal,
): Promise<ChainCursor> {
  const existing = await readCursor(deps, reader.network);
  if (existing && PROVEN.has(reader)) return existing;
  const identity = await proveIdentity(deps, reader, signal);
  if (existing) return await cursorOf(deps, reader);
  const em = deps.orm.em.fork();
  const oldest = await firstRow(
    em,
    sql<{ at: string | null }>`select min(created_at)::text as at from deposit_addresses
       where network = ${reader.network} and mode = 'live'`,
  );
  const [head, finalized] = await Promise.all([reader.head(signal), reader.finalized(signal)]);
  const since = oldest?.at ? new Date(oldest.at).getTime() - BEFORE_OLDEST_MS : undefined;
  const found = since === undefined ? finalized : await firstBlockSince(reader, since, signal);
  // Never above the finalized head: what lies between must be scanned whatever the clocks say.
  const first = found.number > finalized.number ? finalized : found;
  const before =
    first.number > 0
      ? { number: first.number - 1, hash: first.parentHash }
      : { number: -1, hash: first.parentHash };
  const now = deps.now();
  await run(
    em,
    sql`insert into chain_cursors (network, identity, first_block, scanned_number, scanned_hash,
       reread_number, anchored_number, head_number, finalized_number, moved_at, finalized_moved_at,
       scanned_moved_at,
       verified_moved_at, polled_at, version, created_at)
     values (${reader.network}, ${identity}, ${first.number}, ${before.number}, ${before.hash},
       ${before.number}, ${before.number}, ${head.number}, ${finalized.number}, ${now}, ${now}, ${now},
       ${now}, ${now}, 1, ${now})
     on conflict (network) do nothing`,
  );
  return await deps.orm.em.fork().findOneOrFail(ChainCursor, reader.network);
}
