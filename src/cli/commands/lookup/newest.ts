import type { Em } from '../../../db/orm.ts';
import { rows, type Statement, sql } from '../../../db/sql.ts';
import { MODES, type Mode } from '../../../domain/assets.ts';

export type Newest = {
  readonly table: 'customers' | 'deposits' | 'payment_links' | 'webhook_endpoints';
  readonly merchant: string | undefined;
  readonly mode: Mode | undefined;
  /** Further conditions on the rows. */
  readonly only: Statement<unknown>;
  readonly limit: number;
};

/**
 * The ids of the newest rows of a merchant, or of every merchant: the newest of each are taken from the index
 * that lists have, so that no table is read through however many merchants and rows there are.
 */
export async function newestIds(em: Em, { table, merchant, mode, only, limit }: Newest): Promise<string[]> {
  const found = await rows(
    em,
    sql<{ id: string }>`
      select r.id from merchants m cross join unnest(${mode ? [mode] : [...MODES]}::text[]) as which(mode)
      cross join lateral (select t.id, t.created_at from ${sql.table(table)} t
        where t.merchant_id = m.id and t.mode = which.mode and ${only}
        order by t.created_at desc, t.id desc limit ${limit}) r
      where ${merchant ?? null}::uuid is null or m.id = ${merchant ?? null}::uuid
      order by r.created_at desc, r.id desc limit ${limit}`,
  );
  return found.map(({ id }) => id);
}

/** The rows in the order of the ids. */
export function inOrderOf<Row extends { readonly id: string }>(
  ids: readonly string[],
  found: readonly Row[],
): Row[] {
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
