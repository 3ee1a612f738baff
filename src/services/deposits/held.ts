import { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { RELEASABLE_CODES } from '../../domain/deposit.ts';
import { heldPostings } from '../../domain/ledger.ts';
import type { TxDeps } from '../deps.ts';
import { type LedgerPosting, nextPosting, postLedger, postLedgerAll } from '../ledger/post.ts';

/**
 * Whether this is a failed deposit whose money is held for an operator
 * while its transaction is in a block. Simulated ones have no chain.
 */
export function holdsMoney(deposit: Pick<Deposit, 'status' | 'failureCode' | 'simulated'>): boolean {
  return (
    !deposit.simulated &&
    deposit.status === 'failed' &&
    deposit.failureCode != null &&
    RELEASABLE_CODES.includes(deposit.failureCode)
  );
}

/**
 * Takes back what is held for the failed ones among these deposits, which have just lost
 * their block inside the caller's transaction (their rows are locked by that). Money is
 * held exactly while its deposit is bound to a block. Returns how many were taken back.
 */
export async function withdrawHeld(em: Em, deps: TxDeps, depositIds: readonly string[]): Promise<number> {
  if (depositIds.length === 0) return 0;
  const failed = await em.find(Deposit, { id: { $in: [...depositIds] }, status: 'failed' });
  const held = failed.filter(holdsMoney);
  await postLedgerAll(em, deps, held.map(withdrawn));
  for (const deposit of held)
    deps.log.warn(
      { depositId: deposit.id },
      'the block of a failed deposit was replaced: its money is not held any more',
    );
  return held.length;
}

/**
 * Unbinds a failed deposit, which the caller's transaction holds locked, and takes
 * back what was held for it, so that it can be bound again with another amount. The
 * database lets such an amount change only together with the return into a block.
 */
export async function unbindHeld(em: Em, deps: TxDeps, deposit: Deposit): Promise<void> {
  deposit.blockHash = null;
  deposit.verifiedAt = null;
  await postLedger(em, deps, withdrawn(deposit));
  await em.flush();
}

/**
 * Holds the money of a failed deposit again, because its transaction was mined once
 * more. The caller's transaction has the row locked and binds it to its new block.
 */
export async function restoreHeld(em: Em, deps: TxDeps, deposit: Deposit): Promise<void> {
  const postings = heldPostings('back', deposit.amountUnits);
  await postLedger(em, deps, { deposit, kind: 'deposit.restored', number: nextPosting(deposit), postings });
}

function withdrawn(deposit: Deposit): LedgerPosting {
  return {
    deposit,
    kind: 'deposit.withdrawn',
    number: nextPosting(deposit),
    postings: heldPostings('gone', deposit.amountUnits),
  };
}
