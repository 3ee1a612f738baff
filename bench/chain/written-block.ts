// Blocks that no chain has: they are written as the watcher writes the ones that it has read.
import { randomBytes } from 'node:crypto';
import type { ScannedBlock, Transfer } from '../../src/chains/reader.ts';
import type { Deps } from '../../src/services/deps.ts';
import { commitBlocks, commitVerified } from '../../src/services/watcher/commit.ts';
import { readCursor } from '../../src/services/watcher/cursor.ts';

const USD = 10n ** 18n;

/** What the two reads of a block took, in milliseconds. */
export type Times = { readonly firstMs: number; readonly secondMs: number };

/** A block hash or a transaction hash that exists nowhere. */
export const randomHash = (): string => `0x${randomBytes(32).toString('hex')}`;

/** Begins to follow BNB Chain behind this block, which must lie above those of all deposits. */
export async function openChain(deps: Deps, behind: number): Promise<void> {
  const at = new Date();
  await deps.orm.em.fork().execute(
    `insert into chain_cursors (network, first_block, scanned_number, scanned_hash, reread_number,
       anchored_number, head_number, finalized_number, moved_at,
       finalized_moved_at, polled_at, version, created_at) values ('bsc', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0,
         ?)`,
    [behind, behind, randomHash(), behind, behind, behind, behind, at, at, at, at],
  );
}

/**
 * Writes the next block, twice: as it was read at the head, and as
 * it was read when it was final. Throws before {@link openChain}.
 */
export async function writeBlock(deps: Deps, parts: Partial<ScannedBlock>): Promise<Times> {
  const before = await cursorOf(deps);
  const number = before.scannedNumber + 1;
  const block: ScannedBlock = {
    number,
    hash: randomHash(),
    parentHash: before.scannedHash,
    timestampMs: Date.now(),
    transfers: [],
    unrecognised: [],
    unrecognisedDropped: 0,
    ...parts,
  };
  const chain = { headNumber: number, finalizedNumber: number };
  const began = performance.now();
  await commitBlocks(deps, before, [block], chain);
  const firstMs = performance.now() - began;
  const cursor = await cursorOf(deps);
  const again = performance.now();
  await commitVerified(deps, cursor, block, { ...chain, anchored: { number, hash: block.hash } });
  return { firstMs, secondMs: performance.now() - again };
}

/** One transfer of USDT to each of these addresses. */
export function paying(addresses: readonly string[]): Pick<ScannedBlock, 'transfers'> {
  const transfer = (to: string, index: number): Transfer => ({
    txHash: randomHash(),
    to,
    from: `0x${randomBytes(20).toString('hex')}`,
    currency: 'USDT',
    kind: 'token',
    amountUnits: USD + BigInt(index),
  });
  return { transfers: addresses.map(transfer) };
}

async function cursorOf(deps: Deps) {
  const cursor = await readCursor(deps, 'bsc');
  if (!cursor) throw new Error('no cursor');
  return cursor;
}
