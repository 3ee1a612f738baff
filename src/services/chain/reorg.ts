import type { ChainReader } from '../../chain/port.ts';
import { ChainBlock, type ChainCursor } from '../../db/entities/index.ts';
import { withdrawHeld } from '../deposits/held.ts';
import type { Deps } from '../deps.ts';
import { transact } from '../transact.ts';
import { moveCursor } from './cursor.ts';
import { orNoteStop } from './stops.ts';
import { forgetAbove } from './unrecognised.ts';

/** No kept block is in the chain any more: the endpoints serve another chain, or it was rewritten deeper than anything we kept. */
export class NoCommonBlock extends Error {
  override readonly name = 'NoCommonBlock';
}

/**
 * The chain no longer holds the block the cursor stands on. Goes back to the last block that both sides share and unbinds the deposits
 * above it: they keep their state, and the next reads bind them again or `advance` withdraws them once finality has passed. What was
 * held for failed ones is taken back at once, and what was set aside for the operator above it is forgotten.
 */
export async function rollBack(
  deps: Deps,
  reader: ChainReader,
  cursor: ChainCursor,
  headNumber: number,
  signal: AbortSignal,
): Promise<number> {
  const at = { network: cursor.network, part: 'roll-back' as const, number: cursor.scannedNumber, signal };
  return await orNoteStop(deps, at, async () => {
    const ancestor = await findAncestor(deps, reader, cursor, signal);
    await unbindAbove(deps, cursor, ancestor, headNumber);
    return ancestor.number;
  });
}

async function unbindAbove(deps: Deps, cursor: ChainCursor, ancestor: { number: number; hash: string }, headNumber: number): Promise<void> {
  await transact(deps, async (tx) => {
    await moveCursor(tx.em, deps, cursor, {
      scannedNumber: ancestor.number,
      scannedHash: ancestor.hash,
      rereadNumber: Math.min(cursor.rereadNumber, ancestor.number),
      anchored: cursor.anchoredNumber > ancestor.number ? ancestor : undefined,
      headNumber,
    });
    await tx.em.nativeDelete(ChainBlock, { network: cursor.network, number: { $gt: ancestor.number } });
    const now = deps.now();
    const unbound = await tx.em.execute<{ id: string; status: string }[]>(
      `update deposits set block_hash = null, verified_at = null, updated_at = ?, alarmed_at = case when status = 'completed' then ? else alarmed_at end
       where network = ? and mode = 'live' and block_number > ? and block_hash is not null returning id, status`,
      [now, now, cursor.network, ancestor.number],
    );
    const forgotten = await forgetAbove(tx.em, cursor.network, ancestor.number);
    const lost = unbound.filter((row) => row.status === 'failed').map((row) => row.id);
    await withdrawHeld(tx.em, deps, lost);
    for (const row of unbound) {
      if (row.status !== 'completed' && row.status !== 'settled') continue;
      deps.log.error({ depositId: row.id, status: row.status }, 'finality broke under a credited deposit; look at it with "deposit stuck"');
    }
    deps.log.warn(
      { network: cursor.network, from: cursor.scannedNumber, ancestor: ancestor.number, deposits: unbound.length, setAside: forgotten },
      'blocks were replaced; following the new chain',
    );
  });
}

async function findAncestor(
  deps: Deps,
  reader: ChainReader,
  cursor: ChainCursor,
  signal: AbortSignal,
): Promise<{ number: number; hash: string }> {
  const kept = await deps.orm.em
    .fork()
    .find(ChainBlock, { network: cursor.network, number: { $lte: cursor.scannedNumber } }, { orderBy: { number: 'desc' } });
  for (const block of kept) {
    const now = await reader.header(block.number, signal);
    if (now && now.hash === block.hash) return { number: block.number, hash: block.hash };
  }
  const lowest = kept.at(-1);
  // Everything we ever scanned was replaced, down to where we began: the parent of the first block is where we started from.
  if (lowest && lowest.number === cursor.firstBlock) return { number: lowest.number - 1, hash: lowest.parentHash };
  throw new NoCommonBlock(
    `${cursor.network}: none of the last ${kept.length} scanned blocks (down to ${lowest?.number ?? cursor.scannedNumber}) is in the chain that the endpoints serve; check that the RPC URLs belong to the configured chain and are in sync`,
  );
}
