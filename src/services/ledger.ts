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
  await postLedgerAll(em, deps, [posting]);
}

/** The same for any number of postings, in one statement: either all of them are written or none. */
export async function postLedgerAll(em: Em, deps: Deps, postings: readonly LedgerPosting[]): Promise<void> {
  const rows = postings.map((posting) => ({ ...posting, id: deps.newId(), lines: posting.postings.filter(moves) })).filter(hasLines);
  if (rows.length === 0) return;
  const at = deps.now();
  const headers = rows.map(({ id, number, kind, deposit }) => ({
    ...{ id, dedup_key: `${deposit.id}:${number}`, kind, deposit_id: deposit.id, created_at: at },
  }));
  const lines = rows.flatMap(({ id, deposit, lines }) =>
    lines.map((line, index) => ({
      ...{ transaction_id: id, line: index + 1, merchant_id: deposit.merchantId, mode: deposit.mode, network: deposit.network },
      ...{ currency: deposit.currency, account: line.account, amount_units: line.amountUnits.toString() },
    })),
  );
  await em.execute(
    `with header as (
       insert into ledger_transactions (id, dedup_key, kind, deposit_id, created_at)
       select * from json_to_recordset(?::json) as h(id uuid, dedup_key text, kind text, deposit_id uuid, created_at timestamptz)
     )
     insert into ledger_entries (transaction_id, line, merchant_id, mode, network, currency, account, amount_units)
     select * from json_to_recordset(?::json)
       as l(transaction_id uuid, line int, merchant_id uuid, mode text, network text, currency text, account text, amount_units numeric)`,
    [JSON.stringify(headers), JSON.stringify(lines)],
  );
}

const moves = (line: Posting): boolean => line.amountUnits !== 0n;
const hasLines = ({ lines }: { lines: readonly Posting[] }): boolean => lines.length > 0;
