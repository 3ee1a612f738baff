import { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { RELEASABLE_CODES } from '../../domain/deposit.ts';
import { type Posting, replacedPostings } from '../../domain/ledger.ts';
import type { TxDeps } from '../deps.ts';
import { type LedgerPosting, nextPosting, postLedger, postLedgerAll } from '../ledger/post.ts';

const TAKEN_BACK = 'the block of a failed deposit was replaced: its money is not held any more';
const LOST =
  'the block of a deposit that is paid out was replaced: what was paid out is a shortfall until it is mined again; look at it with "deposit stuck"';

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
 * Whether the ledger says at once what becomes of this deposit's block: its life has no step left to say it.
 */
export function followsBlock(deposit: Pick<Deposit, 'status' | 'failureCode' | 'simulated'>): boolean {
  return holdsMoney(deposit) || (!deposit.simulated && deposit.status === 'settled');
}

/**
 * Says in the ledger that these deposits have just lost their block inside the caller's transaction (their
 * rows are locked by that): what was held for a failed one is taken back, what was paid out for a settled
 * one becomes a shortfall. The others among them are left alone. Returns how many were booked.
 */
export async function withdrawReplaced(em: Em, deps: TxDeps, depositIds: readonly string[]): Promise<number> {
  if (depositIds.length === 0) return 0;
  const found = await em.find(Deposit, {
    id: { $in: [...depositIds] },
    status: { $in: ['failed', 'settled'] },
  });
  const booked = found.filter(followsBlock);
  await postLedgerAll(em, deps, booked.map(withdrawn));
  for (const deposit of booked) {
    if (deposit.status === 'settled') deps.log.error({ depositId: deposit.id }, LOST);
    else deps.log.warn({ depositId: deposit.id }, TAKEN_BACK);
  }
  return booked.length;
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
 * Says in the ledger that the transaction of a deposit which {@link followsBlock} was mined once more. The
 * caller's transaction has the row locked and binds it to its new block.
 */
export async function restoreReplaced(em: Em, deps: TxDeps, deposit: Deposit): Promise<void> {
  const postings = postingsFor('back', deposit);
  await postLedger(em, deps, { deposit, kind: 'deposit.restored', number: nextPosting(deposit), postings });
}

function withdrawn(deposit: Deposit): LedgerPosting {
  const postings = postingsFor('gone', deposit);
  return { deposit, kind: 'deposit.withdrawn', number: nextPosting(deposit), postings };
}

function postingsFor(happened: 'gone' | 'back', deposit: Deposit): readonly Posting[] {
  const { status: state, failureCode = null, amountUnits, settledUnits = null } = deposit;
  return replacedPostings(happened, { state, failureCode, amountUnits, settledUnits });
}
