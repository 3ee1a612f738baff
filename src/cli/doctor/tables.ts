import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';

/** Whether the schema is recent enough to have this table. */
export async function hasTable(em: Em, name: string): Promise<boolean> {
  return (
    (await firstRow(em, sql<{ there: boolean }>`select to_regclass(${name}) is not null as there`))?.there ===
    true
  );
}
