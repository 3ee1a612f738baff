import { type FreshDatabase, freshDatabase } from '../../../dev/support/parts.ts';
import { openOrm } from '../../../src/db/orm.ts';

type Row = Record<string, unknown>;

/** Databases that backups are restored into; `drop` ends all of them. */
export function emptyDatabases() {
  const made: FreshDatabase[] = [];
  return {
    made: made as readonly FreshDatabase[],
    make: async (): Promise<FreshDatabase> => {
      const database = await freshDatabase();
      made.push(database);
      return database;
    },
    drop: async (): Promise<void> => {
      for (const database of made) await database.drop();
    },
  };
}

/** The rows that a statement gives in a database; nothing stays connected to it. */
export async function ask(url: string, sql: string): Promise<Row[]> {
  const orm = await openOrm({ url, poolSize: 1, applicationName: 'look' });
  return await orm.em
    .fork()
    .execute<Row[]>(sql)
    .finally(() => orm.close(true));
}

/** The first of them. */
export const askOne = async (url: string, sql: string): Promise<Row> => (await ask(url, sql))[0] ?? {};
