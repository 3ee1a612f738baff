import type { Em } from '../db/orm.ts';
import { Refusal } from './refusal.ts';
import type { Scope } from './scope.ts';

/** A SQL condition with its parameters in order. */
export type Condition = { readonly sql: string; readonly values: readonly unknown[] };

/** The filters that every list of dated rows has. */
export type CreatedBetween = { readonly createdFrom?: Date | undefined; readonly createdTo?: Date | undefined };

/** Which part of a list: by page number from 1, or next to a row whose id is known. At most one of the three is given. */
export type PageRequest = {
  readonly limit: number;
  readonly page?: number | undefined;
  readonly startingAfter?: string | undefined;
  readonly endingBefore?: string | undefined;
};

export type PageOf<T> = {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
  /** Null when a cursor was given: a place in a list that grows has no number. */
  readonly page: number | null;
  readonly limit: number;
  readonly total: number;
  /** True where there may be more than `total`: it was not worth counting them. */
  readonly totalIsAtLeast: boolean;
};

export type ListQuery = {
  readonly table: 'customers' | 'deposits' | 'webhook_endpoints' | 'webhook_deliveries' | 'payment_links';
  /** Which rows exist for the caller at all: those of a merchant and mode, or narrower ones. A cursor outside of it is refused. */
  readonly scope: Scope | Condition;
  readonly filters: readonly Condition[];
  readonly search?: Search | undefined;
  readonly page: PageRequest;
};

/** Text that is looked for in the rows of a list. */
export type Search = {
  /** Whether a row holds the text. */
  readonly test: Condition;
  /** The rows of the table that hold it, by an index; undefined for a text that the index cannot find. */
  readonly indexed: Condition | undefined;
};

/** A filtered list is counted so far; above it nobody reads page after page, and counting costs more than the page. */
export const COUNTED_ROWS = 10_000;

/** Whose rows the database counts for each merchant and mode, in `row_counts`. */
const COUNTED_TABLES: readonly ListQuery['table'][] = ['customers', 'deposits'];

/**
 * The ids of one page, newest first, ties by id. Walking with a cursor sees each row once, whatever arrives meanwhile; page numbers
 * count from the newest row, so they shift with it. A list that is searched or filtered is counted up to {@link COUNTED_ROWS}. Throws a
 * {@link Refusal} for a cursor that is not in the scope.
 */
export async function listPage(em: Em, query: ListQuery): Promise<PageOf<string>> {
  const { page } = query;
  const cursorId = page.startingAfter ?? page.endingBefore;
  const backwards = page.endingBefore !== undefined;
  const wanted: Wanted = {
    ...{ backwards, limit: page.limit, offset: page.page === undefined ? 0 : (page.page - 1) * page.limit },
    cursor: cursorId === undefined ? [] : [await cursorCondition(em, query, cursorId, backwards)],
  };
  const { ids, total, atLeast } = query.search
    ? await findSearched(em, query, query.search, wanted)
    : await findFiltered(em, query, wanted);
  const rows = ids.slice(0, page.limit);
  return {
    rows: backwards ? rows.reverse() : rows,
    hasMore: ids.length > page.limit,
    page: cursorId === undefined ? (page.page ?? 1) : null,
    ...{ limit: page.limit, total, totalIsAtLeast: atLeast },
  };
}

/** Puts loaded rows into the order of the page's ids. A row that vanished in between is left out. */
export function inOrder<T extends { readonly id: string }>(ids: readonly string[], rows: readonly T[]): T[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Between two whole seconds, both included: the wire shows whole seconds, so a shown time finds its own row. */
export function createdBetween({ createdFrom, createdTo }: CreatedBetween): Condition[] {
  const conditions: Condition[] = [];
  if (createdFrom) conditions.push({ sql: 'created_at >= ?', values: [wholeSecond(createdFrom)] });
  if (createdTo) conditions.push({ sql: 'created_at < ?', values: [new Date(wholeSecond(createdTo).getTime() + 1_000)] });
  return conditions;
}

/** Which rows of the filtered list the page shows; one row more than its limit is looked for. */
type Wanted = { readonly backwards: boolean; readonly limit: number; readonly offset: number; readonly cursor: readonly Condition[] };
type Found = { readonly ids: readonly string[]; readonly total: number; readonly atLeast: boolean };

async function findFiltered(em: Em, query: ListQuery, wanted: Wanted): Promise<Found> {
  const conditions = [scopeCondition(query), ...query.filters, ...wanted.cursor];
  const { sql, values } = shown(wanted);
  const found = await em.execute<{ id: string }[]>(`select id from ${query.table} where ${all(conditions)} ${sql}`, [
    ...valuesOf(conditions),
    ...values,
  ]);
  return { ids: found.map(({ id }) => id), ...(await count(em, query)) };
}

/**
 * Three ways, each bounded. Among the newest rows first: a text that is in many of them fills its page there, and a list that is no
 * longer than that is known in full. Then by the index, for a text that is in few. What is in many rows, but not in the newest, is met soon
 * on the way through the list. A text that the index cannot find is looked for among the newest rows only, which `atLeast` tells.
 */
async function findSearched(em: Em, query: ListQuery, search: Search, wanted: Wanted): Promise<Found> {
  const newest = await amongNewest(em, query, search, wanted);
  if (newest.seen <= COUNTED_ROWS) return { ...newest, atLeast: false };
  const isFull = newest.ids.length > wanted.limit && !wanted.backwards;
  if (isFull || !search.indexed) return { ...newest, atLeast: true };
  const indexed = await byIndex(em, query, [search.indexed, search.test], wanted);
  if (indexed.total <= COUNTED_ROWS) return { ...indexed, atLeast: false };
  const walked = await findFiltered(em, { ...query, filters: [...query.filters, search.test] }, wanted);
  return { ...walked, total: COUNTED_ROWS, atLeast: true };
}

type Counted = { readonly ids: readonly string[]; readonly total: number };

async function amongNewest(em: Em, query: ListQuery, search: Search, wanted: Wanted): Promise<Counted & { readonly seen: number }> {
  const scope = scopeCondition(query);
  const tests = [...query.filters, search.test];
  const { sql, values } = shown(wanted);
  const [found] = await em.execute<(Counted & { seen: number })[]>(
    `with newest as materialized (
       select * from ${query.table} where ${all([scope])} order by created_at desc, id desc limit ${COUNTED_ROWS + 1}
     ), hits as materialized (select id, created_at from newest where ${all(tests)})
     select (select count(*)::int from newest) as seen, (select count(*)::int from hits) as total,
       array(select id from hits ${where(wanted.cursor)} ${sql}) as ids`,
    [...scope.values, ...valuesOf(tests), ...valuesOf(wanted.cursor), ...values],
  );
  return found ?? { seen: 0, total: 0, ids: [] };
}

async function byIndex(em: Em, query: ListQuery, tests: readonly Condition[], wanted: Wanted): Promise<Counted> {
  const conditions = [scopeCondition(query), ...query.filters, ...tests];
  const { sql, values } = shown(wanted);
  const [found] = await em.execute<Counted[]>(
    `with hits as materialized (select id, created_at from ${query.table} where ${all(conditions)} limit ${COUNTED_ROWS + 1})
     select (select count(*)::int from hits) as total, array(select id from hits ${where(wanted.cursor)} ${sql}) as ids`,
    [...valuesOf(conditions), ...valuesOf(wanted.cursor), ...values],
  );
  return found ?? { total: 0, ids: [] };
}

/** The end of a statement that finds a page's rows and one more. */
function shown({ backwards, limit, offset }: Wanted): Condition {
  const direction = backwards ? 'asc' : 'desc';
  return { sql: `order by created_at ${direction}, id ${direction} limit ? offset ?`, values: [limit + 1, offset] };
}

/** A whole list of these tables costs nothing to count; what a filter lets through is kept nowhere, and counted one by one up to a limit. */
async function count(em: Em, query: ListQuery): Promise<{ total: number; atLeast: boolean }> {
  const { table, scope, filters } = query;
  if (filters.length === 0 && COUNTED_TABLES.includes(table) && !('sql' in scope))
    return { total: await keptCount(em, table, scope), atLeast: false };
  const conditions = [scopeCondition(query), ...filters];
  // Without a filter the total stays exact, also of the tables that nobody counts.
  const most = filters.length === 0 ? '' : `limit ${COUNTED_ROWS + 1}`;
  const [row] = await em.execute<{ total: number }[]>(
    `select count(*)::int as total from (select 1 from ${table} where ${all(conditions)} ${most}) as counted`,
    valuesOf(conditions),
  );
  const total = row?.total ?? 0;
  const atLeast = filters.length > 0 && total > COUNTED_ROWS;
  return { total: atLeast ? COUNTED_ROWS : total, atLeast };
}

/** How many rows a merchant has in a mode, of a table that the database counts: exact at any size, without reading them. */
export async function keptCount(em: Em, table: ListQuery['table'], { merchantId, mode }: Scope): Promise<number> {
  const own = [table, merchantId, mode];
  const [row] = await em.execute<{ total: number }[]>(
    `select coalesce(sum(rows), 0)::int as total from (
       select rows from row_counts where list = ? and merchant_id = ? and mode = ?
       union all select rows from row_count_changes where list = ? and merchant_id = ? and mode = ?
     ) as parts`,
    [...own, ...own],
  );
  return row?.total ?? 0;
}

function scopeCondition({ scope }: ListQuery): Condition {
  return 'sql' in scope ? scope : { sql: 'merchant_id = ? and mode = ?', values: [scope.merchantId, scope.mode] };
}

async function cursorCondition(em: Em, query: ListQuery, id: string, backwards: boolean): Promise<Condition> {
  const { sql, values } = scopeCondition(query);
  const [known] = await em.execute<{ id: string }[]>(`select id from ${query.table} where id = ? and (${sql})`, [id, ...values]);
  const name = backwards ? 'ending_before' : 'starting_after';
  if (!known) throw new Refusal('INVALID', `${name} is not the id of a row of this list.`, name);
  // The row's own time is read inside the database: its microseconds would be lost on the way through a Date.
  return {
    sql: `(created_at, id) ${backwards ? '>' : '<'} (select c.created_at, c.id from ${query.table} c where c.id = ?)`,
    values: [id],
  };
}

function where(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? '' : `where ${all(conditions)}`;
}

function all(conditions: readonly Condition[]): string {
  return conditions.map((condition) => `(${condition.sql})`).join(' and ');
}

function valuesOf(conditions: readonly Condition[]): unknown[] {
  return conditions.flatMap((condition) => condition.values);
}

function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1_000) * 1_000);
}
