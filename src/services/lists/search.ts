import type { Em } from '../../db/orm.ts';
import { firstRow, type Statement, sql } from '../../db/sql.ts';
import {
  all,
  COUNTED_ROWS,
  type Found,
  inOrderOf,
  type ListQuery,
  type Search,
  type SearchWay,
  scopeCondition,
  shown,
  type Wanted,
  where,
} from './query.ts';

/**
 * An index is used for a text that fewer rows of the table
 * hold than this, of all merchants; each of those is read.
 */
export const INDEXED_ROWS = 20_000;
/** For a text that more rows hold, this many rows are looked through one by one, from the page's place on. */
export const WALKED_ROWS = 20_000;

/**
 * The rows that hold a text. There are three ways, each bounded whatever the text is. First it is looked
 * for among the newest rows: a text that is in many of them fills its page there, and a list that is no
 * longer than that is known in full. Then an index is used, if some part of the text is in few rows of the
 * table, as its statistics say. A text whose every part is in very many rows is looked for in a stretch of
 * the list; one that no index can find, among the newest rows only. `atLeast` says that there may be more.
 */
export async function findSearched(em: Em, query: ListQuery, search: Search, wanted: Wanted): Promise<Found> {
  const newest = await amongNewest(em, query, search, wanted);
  if (newest.seen <= COUNTED_ROWS) return { ...newest, atLeast: false };
  const isFull = newest.ids.length > wanted.limit && !wanted.backwards;
  if (isFull || search.ways.length === 0) return { ...newest, atLeast: true };
  const rarest = await rarestOf(em, search.ways);
  if (rarest !== undefined)
    return await byIndex(em, { ...query, filters: [rarest.indexed, ...query.filters, search.test] }, wanted);
  const walked = await walk(em, query, search, wanted);
  return { ...walked, total: Math.min(COUNTED_ROWS, Math.max(newest.total, walked.total)) };
}

type Counted = { readonly ids: readonly string[]; readonly total: number };
type Looked = Counted & { readonly seen: number };

async function amongNewest(em: Em, query: ListQuery, search: Search, wanted: Wanted): Promise<Looked> {
  const tests = [...query.filters, search.test];
  const found = await firstRow(
    em,
    sql<Looked>`with newest as materialized (
       select id, created_at, (${all(tests)}) as hit from ${sql.table(query.table)}
         where ${scopeCondition(query)}
       order by created_at desc, id desc limit ${COUNTED_ROWS + 1}
     ), hits as materialized (select id, created_at from newest where hit)
     select (select count(*)::int from newest) as seen, (select count(*)::int from hits) as total,
       array(select id from hits ${where(wanted.cursor)} ${shown(wanted)}) as ids`,
  );
  return found ?? { seen: 0, total: 0, ids: [] };
}

/**
 * The way by the part that the fewest rows hold; undefined when these are too
 * many. The planner is asked, because it knows from a sample of the table in less
 * than a millisecond what the index itself would say after reading all of them.
 */
async function rarestOf(em: Em, ways: readonly SearchWay[]): Promise<SearchWay | undefined> {
  let rarest: SearchWay | undefined;
  let fewest = INDEXED_ROWS;
  for (const way of ways) {
    let rows = 0;
    for (const { table, read } of way.asked)
      rows += await estimate(em, sql`select from ${sql.table(table)} where ${read}`);
    if (rows < fewest) [rarest, fewest] = [way, rows];
  }
  return rarest;
}

type Plan = readonly { readonly Plan: { readonly 'Plan Rows': number } }[];

async function estimate(em: Em, statement: Statement<unknown>): Promise<number> {
  const row = await firstRow(em, sql<{ 'QUERY PLAN': Plan }>`explain (format json) ${statement}`);
  return row?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
}

async function byIndex(em: Em, query: ListQuery, wanted: Wanted): Promise<Found> {
  const conditions = [scopeCondition(query), ...query.filters];
  const found = await firstRow(
    em,
    sql<Counted>`with hits as materialized (select id, created_at from ${sql.table(query.table)}
     where ${all(conditions)})
     select (select count(*)::int from hits) as total,
       array(select id from hits ${where(wanted.cursor)} ${shown(wanted)}) as ids`,
  );
  const { ids, total } = found ?? { ids: [], total: 0 };
  const atLeast = total > COUNTED_ROWS && !query.page.uncounted;
  return { ids, total: Math.min(total, COUNTED_ROWS), atLeast };
}

/**
 * A caller that walks on from the last row that was found sees the next
 * stretch, so a list is walked to its end as long as each stretch has a row.
 */
async function walk(em: Em, query: ListQuery, search: Search, wanted: Wanted): Promise<Found> {
  const rows = [scopeCondition(query), ...wanted.cursor];
  const tests = [...query.filters, search.test];
  const found = await firstRow(
    em,
    sql<Looked>`with stretch as materialized (
       select id, created_at, (${all(tests)}) as hit from ${sql.table(query.table)}
         where ${all(rows)} ${inOrderOf(wanted)} limit ${WALKED_ROWS}
     ), hits as materialized (select id, created_at from stretch where hit)
     select (select count(*)::int from stretch) as seen, (select count(*)::int from hits) as total,
       array(select id from hits ${shown(wanted)}) as ids`,
  );
  const { ids, total, seen } = found ?? { ids: [], total: 0, seen: 0 };
  const isCut = seen === WALKED_ROWS;
  const more = ids.length > wanted.limit || (isCut && ids.length > 0);
  return { ids, total, atLeast: isCut || !query.page.uncounted, more };
}
