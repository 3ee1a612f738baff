import { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { RELEASABLE_CODES } from '../../domain/deposit.ts';
import { heldPostings } from '../../domain/ledger.ts';
import type { Deps } from '../deps.ts';
import { postLedger } from '../ledger.ts';

const WITHDRAWN = 'deposit.withdrawn';

/** A failed deposit whose money is held for an operator while its transaction is in a block. The simulated ones have no chain. */
export function holdsMoney(deposit: Pick<Deposit, 'status' | 'failureCode' | 'simulated'>): boolean {
  return !deposit.simulated && deposit.status === 'failed' && deposit.failureCode != null && RELEASABLE_CODES.includes(deposit.failureCode);
}

/**
 * Takes back what is held for the failed ones among these deposits, which have just lost their block inside the caller's transaction
 * (their rows are locked by that). Money is held exactly while its deposit is bound to a block. Returns how many were taken back.
 */
export async function withdrawHeld(em: Em, deps: Deps, depositIds: readonly string[]): Promise<number> {
  if (depositIds.length === 0) return 0;
  const failed = await em.find(Deposit, { id: { $in: [...depositIds] }, status: 'failed' });
  const held = failed.filter(holdsMoney);
  for (const deposit of held) {
    const dedupKey = `${deposit.id}:${deposit.sequence}:withdrawn:${(await withdrawals(em, deposit)) + 1}`;
    await postLedger(em, deps, { deposit, kind: WITHDRAWN, dedupKey, postings: heldPostings('gone', deposit.amountUnits) });
    deps.log.warn({ depositId: deposit.id }, 'the block of a failed deposit was replaced: its money is not held any more');
  }
  return held.length;
}

/**
 * Holds the money of a failed deposit again, whose transaction was mined once more. The caller's transaction has the row locked and
 * binds it to its new block; a second posting for the same return is refused by its key.
 */
export async function restoreHeld(em: Em, deps: Deps, deposit: Deposit): Promise<void> {
  const dedupKey = `${deposit.id}:${deposit.sequence}:restored:${await withdrawals(em, deposit)}`;
  await postLedger(em, deps, { deposit, kind: 'deposit.restored', dedupKey, postings: heldPostings('back', deposit.amountUnits) });
}

/** How often a block was taken from this deposit while its money was held. Counted under the lock of its row. */
async function withdrawals(em: Em, deposit: Deposit): Promise<number> {
  const [row] = await em.execute<{ count: number }[]>(
    'select count(*)::int as count from ledger_transactions where deposit_id = ? and kind = ?',
    [deposit.id, WITHDRAWN],
  );
  return row?.count ?? 0;
}
