import { type Statement, sql } from '../../db/sql.ts';
import type { Scope } from '../scope.ts';

/** An expression that can stand behind WHERE. */
export type Condition = Statement<unknown>;

/**
 * Which part of a list: by page number from 1, or next to a
 * row whose id is known. At most one of the three is given.
 */
export type PageRequest = {
  readonly limit: number;
  readonly page?: number | undefined;
  readonly startingAfter?: string | undefined;
  readonly endingBefore?: string | undefined;
  /**
   * Nobody asks how many rows there are: the total means nothing, and `totalIsAtLeast`
   * says whether a search may have left out rows that no page shows.
   */
  readonly uncounted?: boolean | undefined;
};

export type ListQuery = {
  readonly table:
    | 'customers'
    | 'deposits'
    | 'events'
    | 'payment_links'
    | 'payouts'
    | 'webhook_deliveries'
    | 'webhook_endpoints';
  /**
   * Which rows exist for the caller at all: those of a merchant
   * and mode, or fewer. A cursor outside of it is refused.
   */
  readonly scope: Scope | Condition;
  readonly filters: readonly Condition[];
  /**
   * Parts of the list that have no row in common and every row between them, where
   * an index has each of them in order, but not all of them together.
   */
  readonly parts?: readonly Condition[] | undefined;
  readonly search?: Search | undefined;
  readonly page: PageRequest;
};

/** A text that is looked for in the rows of a list. */
export type Search = {
  /** Whether a row holds the text; a condition that no index serves. */
  readonly test: Condition;
  /** One way for each part of the text that an index can find; none for a text without such a part. */
  readonly ways: readonly SearchWay[];
};

/** How rows are found by one part of a text. */
export type SearchWay = {
  /** The rows of the list's table that hold the part, by an index. */
  readonly indexed: Condition;
  /** By table, the rows that an index reads for it. */
  readonly asked: readonly { readonly table: ListQuery['table']; readonly read: Condition }[];
};

/**
 * A filtered list is counted up to this number; above it nobody
 * reads page after page, and counting costs more than the page.
 */
export const COUNTED_ROWS = 10_000;

/** Which rows of the filtered list the page shows; one row more than its limit is looked for. */
export type Wanted = {
  readonly backwards: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly cursor: readonly Condition[];
};

/** `more`: whether rows may follow, when the number of ids does not show it. */
export type Found = {
  readonly ids: readonly string[];
  readonly total: number;
  readonly atLeast: boolean;
  readonly more?: boolean;
};

/** The end of a statement that finds a page's rows and one more. */
export function shown(wanted: Wanted): Statement<unknown> {
  return sql`${inOrderOf(wanted)} limit ${wanted.limit + 1} offset ${wanted.offset}`;
}

/** Newest first, or oldest first for the way back. */
export function inOrderOf({ backwards }: Wanted): Statement<unknown> {
  return backwards ? sql`order by created_at, id` : sql`order by created_at desc, id desc`;
}

/** The rows that exist for the caller. */
export function scopeCondition({ scope }: ListQuery): Condition {
  return 'merchantId' in scope ? sql`merchant_id = ${scope.merchantId} and mode = ${scope.mode}` : scope;
}

/** Conditions that the columns have the values given; a column whose value is undefined may have any. */
export function matching(columns: Readonly<Record<string, unknown>>): Condition[] {
  return Object.entries(columns).flatMap(([column, value]) =>
    value === undefined ? [] : sql`${sql.ref(column)} = ${value}`,
  );
}

/** A WHERE clause, or nothing for no condition. */
export function where(conditions: readonly Condition[]): Statement<unknown> {
  return conditions.length === 0 ? sql`` : sql`where ${all(conditions)}`;
}

/** All of the conditions as one expression; at least one is given. */
export function all(conditions: readonly Condition[]): Condition {
  return sql.join(
    conditions.map((condition) => sql`(${condition})`),
    sql` and `,
  );
}
