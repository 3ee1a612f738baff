import type { Em } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import {
  all,
  COUNTED_ROWS,
  type Condition,
  type Found,
  type ListQuery,
  scopeCondition,
  shown,
  type Wanted,
} from './query.ts';
import { findSearched } from './search.ts';

/** The filters that every list of dated rows has. */
export type CreatedBetween = {
  readonly createdFrom?: Date | undefined;
  readonly createdTo?: Date | undefined;
};

export type PageOf<T> = {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
  /** Null when a cursor was given: a place in a list that grows has no number. */
  readonly page: number | null;
  readonly limit: number;
  readonly total: number;
  /** True when there may be more than `total`: it was not worth counting the rest. */
  readonly totalIsAtLeast: boolean;
};

/** The tables whose rows the database counts for each merchant and mode, in `row_counts`. */
const COUNTED_TABLES: readonly ListQuery['table'][] = ['customers', 'deposits'];
/** Tables without one that grow as deposits do: also without a filter they are counted up to a limit. */
const GROWING_TABLES: readonly ListQuery['table'][] = ['events', 'payouts'];

/**
 * The ids of one page, newest first, ties by id. Walking with a cursor sees each row
 * once, whatever arrives meanwhile; page numbers count from the newest row, so they
 * shift with it. A list that is searched or filtered is counted up to
 * {@link COUNTED_ROWS}. Throws a {@link Refusal} for a cursor that is not in the scope.
 */
export async function listPage(em: Em, query: ListQuery): Promise<PageOf<string>> {
  const { page } = query;
  const cursorId = page.startingAfter ?? page.endingBefore;
  const backwards = page.endingBefore !== undefined;
  const wanted: Wanted = {
    backwards,
    limit: page.limit,
    offset: page.page === undefined ? 0 : (page.page - 1) * page.limit,
    cursor: cursorId === undefined ? [] : [await cursorCondition(em, query, cursorId, backwards)],
  };
  const { ids, total, atLeast, more } = query.search
    ? await findSearched(em, query, query.search, wanted)
    : await findFiltered(em, query, wanted);
  const onPage = ids.slice(0, page.limit);
  return {
    rows: backwards ? onPage.reverse() : onPage,
    hasMore: more ?? ids.length > page.limit,
    page: cursorId === undefined ? (page.page ?? 1) : null,
    limit: page.limit,
    total,
    totalIsAtLeast: atLeast,
  };
}

/** Puts loaded rows into the order of the page's ids. A row that vanished in between is left out. */
export function inOrder<T extends { readonly id: string }>(ids: readonly string[], rows: readonly T[]): T[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/**
 * Between two whole seconds, both included: the API shows whole seconds, so a shown time finds its own row.
 */
export function createdBetween({ createdFrom, createdTo }: CreatedBetween): Condition[] {
  const conditions: Condition[] = [];
  if (createdFrom) conditions.push(sql`created_at >= ${wholeSecond(createdFrom)}`);
  if (createdTo) conditions.push(sql`created_at < ${new Date(wholeSecond(createdTo).getTime() + 1_000)}`);
  return conditions;
}

async function findFiltered(em: Em, query: ListQuery, wanted: Wanted): Promise<Found> {
  const conditions = [scopeCondition(query), ...query.filters, ...wanted.cursor];
  const table = sql.table(query.table);
  // Whatever part the page's rows are in, they are among the first of that part.
  const first = { ...wanted, offset: 0, limit: wanted.offset + wanted.limit };
  const list = query.parts
    ? together(
        query.parts,
        (part) => sql`id, created_at from ${table}
        where ${all([...conditions, part])} ${shown(first)}`,
      )
    : sql`${table} where ${all(conditions)}`;
  const found = await rows(em, sql<{ id: string }>`select id from ${list} ${shown(wanted)}`);
  return { ids: found.map(({ id }) => id), ...(await count(em, query)) };
}

/** The rows of all parts of a list, each read by itself. */
function together(parts: readonly Condition[], rowsOf: (part: Condition) => Condition): Condition {
  const selects = parts.map((part) => sql`(select ${rowsOf(part)})`);
  return sql`(${sql.join(selects, sql` union all `)}) as parts`;
}

/**
 * A whole list of these tables costs nothing to count. No counter is kept
 * of what a filter lets through: it is counted row by row up to a limit.
 */
async function count(em: Em, query: ListQuery): Promise<{ total: number; atLeast: boolean }> {
  const { table, scope, filters, page, parts } = query;
  if (page.uncounted) return { total: 0, atLeast: false };
  if (filters.length === 0 && COUNTED_TABLES.includes(table) && 'merchantId' in scope)
    return { total: await keptCount(em, table, scope), atLeast: false };
  const conditions = [scopeCondition(query), ...filters];
  // Without a filter the total stays exact, also for tables whose rows the database does not count.
  const isBounded = filters.length > 0 || GROWING_TABLES.includes(table);
  const most = isBounded ? sql`limit ${COUNTED_ROWS + 1}` : sql``;
  const list = parts
    ? together(
        parts,
        (part) => sql`1 from ${sql.table(table)} where ${all([...conditions, part])}
        order by created_at, id ${most}`,
      )
    : sql`${sql.table(table)} where ${all(conditions)}`;
  const row = await firstRow(
    em,
    sql<{ total: number }>`select count(*)::int as total from (select 1 from ${list} ${most}) as counted`,
  );
  const total = row?.total ?? 0;
  const atLeast = isBounded && total > COUNTED_ROWS;
  return { total: atLeast ? COUNTED_ROWS : total, atLeast };
}

/**
 * How many rows a merchant has in a mode, of a table that the
 * database counts: exact at any size, without reading them.
 */
export async function keptCount(
  em: Em,
  table: ListQuery['table'],
  { merchantId, mode }: Scope,
): Promise<number> {
  const own = sql`list = ${table} and merchant_id = ${merchantId} and mode = ${mode}`;
  const row = await firstRow(
    em,
    sql<{ total: number }>`select coalesce(sum(rows), 0)::int as total from (
       select rows from row_counts where ${own} union all select rows from row_count_changes where ${own}
     ) as parts`,
  );
  return row?.total ?? 0;
}

async function cursorCondition(em: Em, query: ListQuery, id: string, backwards: boolean): Promise<Condition> {
  const table = sql.table(query.table);
  const known = await firstRow(
    em,
    sql`select id from ${table} where id = ${id} and (${scopeCondition(query)})`,
  );
  const name = backwards ? 'ending_before' : 'starting_after';
  if (!known) throw new Refusal('INVALID', `${name} is not the id of a row of this list.`, name);
  // The row's own time is read inside the database: its microseconds would be lost on the way through a Date.
  return sql`(created_at, id) ${backwards ? sql`>` : sql`<`} (select c.created_at, c.id from ${table} c
    where c.id = ${id})`;
}

function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1_000) * 1_000);
}
