import type { Deposit } from '../db/entities/index.ts';
import type { Em } from '../db/orm.ts';
import type { Posting } from '../domain/ledger.ts';
import type { Deps } from './deps.ts';

export type LedgerPosting = {
  readonly deposit: Deposit;
  readonly kind: string;
  /** From {@link nextPosting}: a second posting with the same number fails the caller's transaction. */
  readonly number: number;
  readonly postings: readonly Posting[];
};

/**
 * Numbers a deposit's next ledger transaction. The caller's transaction holds the deposit's row locked and writes the row, at the latest when
 * it commits; two writers that both missed the lock get the same number, and the database refuses the second.
 */
export function nextPosting(deposit: Pick<Deposit, 'postingCount'>): number {
  deposit.postingCount += 1;
  return deposit.postingCount;
}

/** Writes one balanced posting inside the caller's transaction; nothing where there is nothing to move. The database checks the balance at commit. */
export async function postLedger(em: Em, deps: Deps, posting: LedgerPosting): Promise<void> {
  const lines = posting.postings.filter((line) => line.amountUnits !== 0n);
  if (lines.length === 0) return;
  const { deposit } = posting;
  const id = deps.newId();
  const values = lines.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ');
  await em.execute(
    `with header as (insert into ledger_transactions (id, dedup_key, kind, deposit_id, created_at) values (?, ?, ?, ?, ?))
     insert into ledger_entries (transaction_id, line, merchant_id, mode, network, currency, account, amount_units) values ${values}`,
    [
      ...[id, `${deposit.id}:${posting.number}`, posting.kind, deposit.id, deps.now()],
      ...lines.flatMap((line, index) => [
        ...[id, index + 1, deposit.merchantId, deposit.mode, deposit.network, deposit.currency],
        ...[line.account, line.amountUnits.toString()],
      ]),
    ],
  );
}
