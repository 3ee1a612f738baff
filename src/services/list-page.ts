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
};

export type ListQuery = {
  readonly table: 'customers' | 'deposits' | 'webhook_endpoints' | 'webhook_deliveries' | 'payment_links';
  /** Which rows exist for the caller at all: those of a merchant and mode, or narrower ones. A cursor outside of it is refused. */
  readonly scope: Scope | Condition;
  readonly filters: readonly Condition[];
  readonly page: PageRequest;
};

/** Whose rows the database counts for each merchant and mode, in `row_counts`. */
const COUNTED_TABLES: readonly ListQuery['table'][] = ['customers', 'deposits'];

/**
 * The ids of one page, newest first, ties by id. Walking with a cursor sees each row once, whatever arrives meanwhile; page numbers
 * count from the newest row, so they shift with it. Throws a {@link Refusal} for a cursor that is not in the scope.
 */
export async function listPage(em: Em, query: ListQuery): Promise<PageOf<string>> {
  const { page } = query;
  const cursorId = page.startingAfter ?? page.endingBefore;
  const filters = [scopeCondition(query), ...query.filters];
  const backwards = page.endingBefore !== undefined;
  const conditions = cursorId === undefined ? filters : [...filters, await cursorCondition(em, query, cursorId, backwards)];
  const direction = backwards ? 'asc' : 'desc';
  const offset = page.page === undefined ? 0 : (page.page - 1) * page.limit;
  const found = await em.execute<{ id: string }[]>(
    `select id from ${query.table} where ${all(conditions)} order by created_at ${direction}, id ${direction} limit ? offset ?`,
    [...valuesOf(conditions), page.limit + 1, offset],
  );
  const total = await count(em, query);
  const rows = found.slice(0, page.limit).map((row) => row.id);
  return {
    rows: backwards ? rows.reverse() : rows,
    hasMore: found.length > page.limit,
    page: cursorId === undefined ? (page.page ?? 1) : null,
    limit: page.limit,
    total,
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

/** A `LIKE` pattern that finds the text anywhere, with the wildcards inside the text taken literally. */
export function containsPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

/** A whole list of these tables costs nothing to count; what a filter lets through is kept nowhere, and counted one by one. */
async function count(em: Em, query: ListQuery): Promise<number> {
  const { table, scope, filters } = query;
  if (COUNTED_TABLES.includes(table) && !('sql' in scope) && filters.length === 0) return await keptCount(em, table, scope);
  const conditions = [scopeCondition(query), ...filters];
  const [row] = await em.execute<{ total: number }[]>(
    `select count(*)::int as total from ${table} where ${all(conditions)}`,
    valuesOf(conditions),
  );
  return row?.total ?? 0;
}

async function keptCount(em: Em, table: string, { merchantId, mode }: Scope): Promise<number> {
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

function all(conditions: readonly Condition[]): string {
  return conditions.map((condition) => `(${condition.sql})`).join(' and ');
}

function valuesOf(conditions: readonly Condition[]): unknown[] {
  return conditions.flatMap((condition) => condition.values);
}

function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1_000) * 1_000);
}
