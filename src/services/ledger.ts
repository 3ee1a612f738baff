import type { Deposit } from '../db/entities/index.ts';
import type { Em } from '../db/orm.ts';
import type { Posting } from '../domain/ledger.ts';
import type { Deps } from './deps.ts';

export type LedgerPosting = {
  readonly deposit: Deposit;
  readonly kind: string;
  /** One fact is posted once: a second posting with the same key fails the caller's transaction. */
  readonly dedupKey: string;
  readonly postings: readonly Posting[];
};

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
      ...[id, posting.dedupKey, posting.kind, deposit.id, deps.now()],
      ...lines.flatMap((line, index) => [
        ...[id, index + 1, deposit.merchantId, deposit.mode, deposit.network, deposit.currency],
        ...[line.account, line.amountUnits.toString()],
      ]),
    ],
  );
}
