import type { Condition, Search } from './list-page.ts';

/** A group of three letters or digits, by which the index finds a text. */
const FINDABLE = /[\p{L}\p{N}]{3}/u;

/** The texts of a table that are searched, in the words of its index. */
export type SearchedTexts = { readonly columns: readonly string[]; readonly index: string };

/** Of customers. */
export const CUSTOMER_TEXTS: SearchedTexts = {
  columns: ['external_id', 'email', 'name'],
  index: `lower(coalesce(external_id, '') || chr(10) || coalesce(email, '') || chr(10) || coalesce(name, ''))`,
};

/** Of payment links; who pays them has texts of his own. */
export const LINK_TEXTS: SearchedTexts = {
  columns: ['description', 'external_id', 'token'],
  index: `lower(coalesce(description, '') || chr(10) || coalesce(external_id, '') || chr(10) || token)`,
};

/** Finds a text anywhere in one of the columns, in any case. */
export function searchIn({ columns, index }: SearchedTexts, text: string): Search {
  const pattern = containsPattern(text);
  const test = { sql: columns.map((column) => `${column} ilike ?`).join(' or '), values: columns.map(() => pattern) };
  return { test, indexed: FINDABLE.test(text) ? holds(index, pattern) : undefined };
}

function holds(index: string, pattern: string): Condition {
  return { sql: `${index} like lower(?)`, values: [pattern] };
}

/** A `LIKE` pattern that finds the text anywhere, with the wildcards inside the text taken literally. */
export function containsPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
}
