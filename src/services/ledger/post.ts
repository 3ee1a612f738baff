import type { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { run, type Statement, sql } from '../../db/sql.ts';
import type { Posting } from '../../domain/ledger.ts';
import type { TxDeps } from '../deps.ts';

export type LedgerPosting = {
  readonly deposit: Deposit;
  readonly kind: string;
  /**
   * From {@link nextPosting}: the id is made from it, so a second
   * posting with the same number makes the caller's transaction fail.
   */
  readonly number: number;
  readonly postings: readonly Posting[];
};

/**
 * Numbers a deposit's next ledger transaction. The caller's transaction holds the
 * deposit's row locked and writes the row, at the latest when it commits; two writers
 * that both missed the lock get the same number, and the database refuses the second.
 */
export function nextPosting(deposit: Pick<Deposit, 'postingCount'>): number {
  deposit.postingCount += 1;
  return deposit.postingCount;
}

/**
 * Writes one balanced posting inside the caller's transaction; writes nothing
 * if there is nothing to move. The database checks the balance at commit.
 */
export async function postLedger(em: Em, deps: TxDeps, posting: LedgerPosting): Promise<void> {
  await postLedgerAll(em, deps, [posting]);
}

/**
 * {@link postLedger} for any number of postings, in one statement: either all of them are written or none.
 */
export async function postLedgerAll(em: Em, deps: TxDeps, postings: readonly LedgerPosting[]): Promise<void> {
  const rows = postings
    .map((posting) => ({ ...posting, lines: posting.postings.filter(moves) }))
    .filter(hasLines);
  if (rows.length === 0) return;
  const values = rows.map(({ deposit, kind, number, lines }) => ({
    deposit_id: deposit.id,
    deposit_created_at: deposit.createdAt,
    number,
    kind,
    sequence: deposit.sequence,
    merchant_id: deposit.merchantId,
    mode: deposit.mode,
    network: deposit.network,
    currency: deposit.currency,
    lines: lines.map((line, index) => ({
      line: index + 1,
      account: line.account,
      units: line.amountUnits.toString(),
    })),
  }));
  await run(em, post(JSON.stringify(values), deps.now()));
}

const moves = (line: Posting): boolean => line.amountUnits !== 0n;
const hasLines = ({ lines }: { lines: readonly Posting[] }): boolean => lines.length > 0;

const post = (postings: string, now: Date): Statement<unknown> => sql`
  with given as materialized (
    select id_of_posting(deposit_created_at, deposit_id, number) as id,
      g.* from json_to_recordset(${postings}::json) as g(deposit_id uuid,
      deposit_created_at timestamptz, number int, kind text, sequence int, merchant_id uuid, mode text,
        network text, currency text, lines json)
  ), header as (
    insert into ledger_transactions (id, deposit_id, number, kind, sequence, created_at)
    select id, deposit_id, number, kind, sequence, ${now}::timestamptz from given
  )
  insert into ledger_entries (transaction_id, line, merchant_id, mode, network, currency, account,
    amount_units)
  select g.id, l.line, g.merchant_id, g.mode, g.network, g.currency, l.account, l.units
  from given g, json_to_recordset(g.lines) as l(line int, account text, units numeric)`;
