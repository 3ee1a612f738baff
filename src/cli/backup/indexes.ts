// The wallet indexes of a restored database: none that was given away may be given away again.
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import { SET_ASIDE } from './backup.ts';
import type { Manifest } from './manifest.ts';

/**
 * An address that was given away since the backup is never given to somebody else: one key at the rate that
 * is usual makes 8.6 million customers a day. A wallet has 2,147 million addresses.
 */
const LEAST_GAP = 10_000_000;
const MOST_GAP = 100_000_000;
const DAY_MS = 24 * 60 * 60_000;

export type WalletIndex = { readonly highest: number; readonly next: number };

/**
 * Makes the sequence of wallet indexes, so far ahead that no address that was given away after the backup can
 * be given again: ten times as many as the busiest day would have taken in the meantime, and ten million at
 * least, above what the backup knows and what the database knew that was put aside. Nobody can draw from it
 * before the caller's transaction is over.
 */
export async function makeIndexes(
  em: Em,
  { wallet_index: known, made_at: at }: Manifest,
  now: Date,
): Promise<void> {
  const days = Math.max(1, Math.ceil((now.getTime() - new Date(at).getTime()) / DAY_MS));
  const gap = Math.min(MOST_GAP, Math.max(LEAST_GAP, 10 * days * known.most_in_a_day));
  const wanted = Math.max(known.next, known.highest + 1, await drawnBefore(em)) + gap;
  // As the migrations make it.
  await run(em, sql`create sequence wallet_index_seq minvalue 1 maxvalue 2147483646 no cycle`);
  await run(em, sql`select setval('wallet_index_seq', ${wanted}::bigint, false)`);
}

/** The highest index that a customer has, and the next one. */
export async function walletIndexOf(em: Em): Promise<WalletIndex> {
  const row = await firstRow(
    em,
    sql<WalletIndex>`select (s.last_value + s.is_called::int)::int as next,
      (select coalesce(max(wallet_index), 0) from customers)::int as highest from wallet_index_seq s`,
  );
  return row ?? { highest: 0, next: 1 };
}

/**
 * How many indexes were drawn in whatever was put aside in this database, also by a restore that was killed;
 * 0 where nothing was.
 */
async function drawnBefore(em: Em): Promise<number> {
  const schemas = await rows(
    em,
    sql<{ name: string }>`select n.nspname as name from pg_namespace n
      join pg_class c on c.relnamespace = n.oid and c.relname = 'wallet_index_seq' and c.relkind = 'S'
      where starts_with(n.nspname, ${SET_ASIDE})`,
  );
  let most = 0;
  for (const { name } of schemas) {
    const sequence = sql.ref(`${name}.wallet_index_seq`);
    const row = await firstRow(em, sql<{ drawn: number }>`select last_value::int as drawn from ${sequence}`);
    most = Math.max(most, row?.drawn ?? 0);
  }
  return most;
}
