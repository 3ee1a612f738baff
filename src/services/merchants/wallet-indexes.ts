import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';

/** Where the numbering of customers' addresses stands. */
export type WalletIndexes = {
  /** What the next customer gets. */
  readonly next: number;
  /** The highest one that a customer has; 0 where there is none. */
  readonly highest: number;
};

/** Which index is given next, and the highest that was given as far as this database knows. */
export async function readWalletIndexes(em: Em): Promise<WalletIndexes> {
  const row = await firstRow(
    em,
    sql<WalletIndexes>`select (last_value + is_called::int)::int as next,
      (select coalesce(max(wallet_index), 0) from customers)::int as highest from wallet_index_seq`,
  );
  if (!row) throw new Error('the sequence of wallet indexes has no row');
  return row;
}
