import { type RawBuilder, sql } from 'kysely';
import type { Em } from './orm.ts';

/**
 * A statement or a part of one: `` sql<Row>`select … where id = any(${ids})` ``. What
 * stands in `${}` is bound and never written into the text, lists are bound as one array,
 * and a statement within it is inserted as it is. `sql.ref` and `sql.table` are for names.
 */
export { sql };
export type Statement<Row> = RawBuilder<Row>;

/**
 * A list of our own constants written into the text: a partial index has its condition in this
 * form, which it must match before any value is known.
 */
export function literals(values: readonly string[]): Statement<unknown> {
  return sql`(${sql.join(values.map((value) => sql.lit(value)))})`;
}

/**
 * The rows of a statement, their columns in camelCase, inside the transaction of `em` where there is one.
 * Entities that `em` holds are neither written before it nor changed by it. Throws what entities throw: for a
 * unique key that is taken, for a lock that was not had in time.
 */
export async function rows<Row>(em: Em, statement: Statement<Row>): Promise<Row[]> {
  const found = await executed(em, statement);
  const names = Object.keys(found.rows[0] ?? {}).map((column) => [column, inCamelCase(column)] as const);
  return found.rows.map(
    (row) =>
      Object.fromEntries(
        names.map(([column, name]) => [name, (row as Record<string, unknown>)[column]]),
      ) as Row,
  );
}

/** The first row of a statement, or undefined where there is none; it behaves as {@link rows} does. */
export async function firstRow<Row>(em: Em, statement: Statement<Row>): Promise<Row | undefined> {
  return (await rows(em, statement))[0];
}

/**
 * Runs a statement whose rows are not needed; returns how many it inserted, changed
 * or removed. It behaves as {@link rows} does.
 */
export async function run(em: Em, statement: Statement<unknown>): Promise<number> {
  const { numAffectedRows } = await executed(em, statement);
  return Number(numAffectedRows ?? 0n);
}

async function executed<Row>(em: Em, statement: Statement<Row>) {
  try {
    return await statement.execute(em.getKysely());
  } catch (error) {
    throw error instanceof Error ? em.getPlatform().getExceptionConverter().convertException(error) : error;
  }
}

const known = new Map<string, string>();

/** There are few names and all are our own, so they are kept. */
function inCamelCase(column: string): string {
  const name =
    known.get(column) ?? column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  known.set(column, name);
  return name;
}
