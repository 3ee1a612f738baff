import type { BlockRef, ChainReader, FinalBlock, NamedBlock } from '../../chains/reader.ts';
import { ChainBlock, type ChainCursor } from '../../db/entities/index.ts';
import { rows, sql } from '../../db/sql.ts';
import { withdrawReplaced } from '../deposits/held.ts';
import type { Deps } from '../deps.ts';
import { unbindSentAbove } from '../payouts/sent.ts';
import { wakeForReplaced } from '../payouts/wakes.ts';
import { transact } from '../transact.ts';
import { forgetAbove } from '../uncredited/unrecognised.ts';
import { belowBrokenFinality, FinalityContradiction } from './anchor.ts';
import { BranchUnclear, findBranch, type Place } from './branch.ts';
import { orNameCulprit } from './culprit.ts';
import { moveCursor } from './cursor.ts';
import { orNoteStop } from './stops.ts';

/**
 * What a roll-back is decided by: the newest head, and the block that was named as final in the same poll.
 */
export type Evidence = {
  readonly headNumber: number;
  readonly final: NamedBlock;
  readonly signal: AbortSignal;
};

/**
 * Called when something contradicts the block that the cursor stands on. When the chain really
 * holds another one, goes back to the last block that both sides share and unbinds the deposits
 * above it: they keep their state, and the next reads bind them again or `advance` withdraws
 * them once finality has passed. What was held for failed ones is taken back at once, and what
 * was recorded as uncredited for the operator above it is forgotten. Returns false, and changes
 * nothing, when the best RPC endpoint has our branch. Throws when that cannot be told, and
 * `FinalityContradiction` when the chain would have to be left below a block that was final.
 */
export async function rollBack(
  deps: Deps,
  reader: ChainReader,
  cursor: ChainCursor,
  evidence: Evidence,
): Promise<boolean> {
  const { signal } = evidence;
  const at = { network: cursor.network, part: 'roll-back' as const, number: cursor.scannedNumber, signal };
  return await orNoteStop(deps, at, async () => {
    const branch = await findBranch(deps, reader, cursor, signal);
    if (branch.kind === 'stands') return false;
    const ancestor =
      branch.kind === 'parts' ? branch.ancestor : await belowBrokenFinality(deps, reader, cursor, evidence);
    await unbindAbove(deps, cursor, ancestor, evidence.headNumber);
    return true;
  });
}

/**
 * Called when `final` was named as final and is not the block that we kept. Above our anchor the
 * best RPC endpoint says which branch to take; when it has ours all the same, nothing is anchored
 * on `named`, the whole of what was said. Throws {@link FinalityContradiction} when two endpoints
 * name blocks that cannot both be final, {@link BranchUnclear} when one contradicts itself.
 */
export async function leaveForFinal(
  deps: Deps,
  reader: ChainReader,
  cursor: ChainCursor,
  evidence: Evidence & { readonly named: FinalBlock },
): Promise<void> {
  const { final, named, signal } = evidence;
  if (final.number <= cursor.anchoredNumber) return await rollBackBelowAnchor(deps, reader, cursor, evidence);
  if (await rollBack(deps, reader, cursor, evidence)) return;
  if (!named.second)
    throw new BranchUnclear(
      `${final.host} names another block ${final.number} of ${reader.network} as final than the best endpoint has`,
    );
  const at = { network: cursor.network, part: 'roll-back' as const, number: cursor.anchoredNumber, signal };
  const said = [named, named.second].map(
    ({ host, hash, number }) => `${host} names ${hash} as final at block ${number}`,
  );
  await orNoteStop(deps, at, () =>
    Promise.reject(
      new FinalityContradiction(
        `two endpoints of ${reader.network} contradict each other: ${said.join(', ')}, and both cannot be`,
      ),
    ),
  );
}

/**
 * Called for a block that does not link to ours: either our branch was
 * replaced, or the RPC endpoint that gave the block stands on one that was.
 */
export async function leaveOrRefuse(
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

/**
 * {@link rollBack} for a block that was named as final below our
 * anchor and is not the one that we kept: never without proof.
 */
async function rollBackBelowAnchor(
  deps: Deps,
  reader: ChainReader,
  cursor: ChainCursor,
  evidence: Evidence,
): Promise<void> {
  // The anchor stays while new blocks are read: this number
  // tells a stop that lasts from one that begins again.
  const at = {
    network: cursor.network,
    part: 'roll-back' as const,
    number: cursor.anchoredNumber,
    signal: evidence.signal,
  };
  await orNoteStop(deps, at, async () => {
    const ancestor = await belowBrokenFinality(deps, reader, cursor, evidence);
    await unbindAbove(deps, cursor, ancestor, evidence.headNumber);
  });
}

async function unbindAbove(
  deps: Deps,
  cursor: ChainCursor,
  ancestor: Place,
  headNumber: number,
): Promise<void> {
  await orNameCulprit(deps, { cursor, part: 'roll-back', from: ancestor.number + 1 }, () =>
    goBack(deps, cursor, ancestor, headNumber),
  );
}

async function goBack(deps: Deps, cursor: ChainCursor, ancestor: Place, headNumber: number): Promise<void> {
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
    const unbound = await rows(
      tx.em,
      sql<{ id: string; status: string }>`
        with locked as (select id from deposits
          where network = ${cursor.network} and mode = 'live' and block_number > ${ancestor.number}
            and block_hash is not null order by id for no key update)
        update deposits d set block_hash = null, verified_at = null, updated_at = ${now},
          alarmed_at = case when d.status in ('completed', 'settled') then ${now} else d.alarmed_at end
        from locked where d.id = locked.id
        returning d.id, d.status`,
    );
    await wakeForReplaced(tx, cursor.network, ancestor.number);
    await unbindSentAbove(tx.em, deps, cursor.network, ancestor.number);
    const forgotten = await forgetAbove(tx.em, cursor.network, ancestor.number);
    await withdrawReplaced(
      tx.em,
      deps,
      unbound.map(({ id }) => id),
    );
    for (const row of unbound) {
      if (row.status !== 'completed' && row.status !== 'settled') continue;
      deps.log.error(
        { depositId: row.id, status: row.status },
        'finality broke under a credited deposit; look at it with "deposit stuck"',
      );
    }
    deps.log.warn(
      {
        network: cursor.network,
        from: cursor.scannedNumber,
        ancestor: ancestor.number,
        deposits: unbound.length,
        setAside: forgotten,
      },
      'blocks were replaced; reading the new chain',
    );
  });
}
