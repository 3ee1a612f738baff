import { type Statement, sql } from '../../db/sql.ts';
import { COUNTED_ROWS } from './query.ts';

/** A number of rows that was counted up to a limit; with `at_least` there are as many or more. */
export type Bounded = { readonly count: number; readonly at_least: boolean };

/** A count as it is shown, of one that went at most one row beyond the limit. */
export function bounded(counted: number): Bounded {
  return { count: Math.min(counted, COUNTED_ROWS), at_least: counted > COUNTED_ROWS };
}

/**
 * Counts the rows of `from … where … order by …` up to the limit, as an expression for {@link bounded}.
 * The order is that of the index that is meant: without one, rows that are very many are read as they lie.
 */
export function countUpTo(rows: Statement<unknown>): Statement<unknown> {
  return sql`(select count(*)::int from (select 1 ${rows} limit ${COUNTED_ROWS + 1}) as counted)`;
}
