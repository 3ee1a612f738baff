import { type Statement, sql } from '../../db/sql.ts';
import type { Condition, Search, SearchWay } from './query.ts';

/** A text without three letters or digits in a row is in no index. */
const FINDABLE = /[\p{L}0-9]{3}/u;
/** Letters or digits in a row, with the signs beside them: the index knows where a word begins and ends. */
const PARTS = /(?<=(?<before>[ -~]?))(?<letters>[\p{L}0-9]+)(?=(?<after>[ -~]?))/gu;
/** More letters of a part find hardly fewer rows, and each of them costs one more search in the index. */
const PART_LENGTH = 16;
const PARTS_ASKED = 6;

/** Letters or digits that stand in a row in a searched text, and the sign before and after them, if any. */
type Part = { readonly before: string; readonly letters: string; readonly after: string };

/**
 * The texts of a table that are searched, and the expression of its index over all of them, in small letters.
 */
export type SearchedTexts = {
  readonly table: 'customers' | 'payment_links';
  readonly columns: readonly string[];
  readonly index: Statement<unknown>;
};

/** The column in which the database keeps all texts of a customer, in small letters. */
const SEARCH_TEXT = sql`search_text`;

/** The texts of customers. */
export const CUSTOMER_TEXTS: SearchedTexts = {
  table: 'customers',
  columns: ['external_id', 'email', 'name'],
  index: SEARCH_TEXT,
};

/** The texts of payment links; those of the customers who pay them are kept with the customers. */
export const LINK_TEXTS: SearchedTexts = {
  table: 'payment_links',
  columns: ['description', 'external_id', 'token'],
  index: sql`lower(coalesce(description, '') || chr(10) || coalesce(external_id, '') || chr(10) || token)`,
};

/** Finds a text anywhere in one of the columns, in any case. */
export function searchIn(texts: SearchedTexts, text: string): Search {
  return { test: holdsIn(texts, text), ways: partsOf(text).map((part) => wayBy(texts, part)) };
}

/**
 * The parts of a text by which an index is asked; each row that holds the text
 * holds all of them. One part is enough for a search: the index would read the rows
 * of every group of letters that it is asked for, also of those that all rows hold.
 */
export function partsOf(text: string): Part[] {
  if (!FINDABLE.test(text)) return [];
  const parts = [...text.matchAll(PARTS)].map(({ groups = {} }) =>
    cut(groups['before'] ?? '', groups['letters'] ?? '', groups['after'] ?? ''),
  );
  const findable = parts.filter(
    ({ before, letters, after }) => FINDABLE.test(letters) || before !== '' || after !== '',
  );
  return findable.toSorted((a, b) => b.letters.length - a.letters.length).slice(0, PARTS_ASKED);
}

function cut(before: string, letters: string, after: string): Part {
  const all = [...letters];
  return all.length <= PART_LENGTH
    ? { before, letters, after }
    : { before, letters: all.slice(0, PART_LENGTH).join(''), after: '' };
}

/** The rows that hold a part, in the words of the index. */
export function holdsPart({ index }: SearchedTexts, { before, letters, after }: Part): Condition {
  const sign = (text: string): string => text.replace(/[\\%_]/, '\\$&');
  return sql`${index} like lower(${`%${sign(before)}${letters}${sign(after)}%`})`;
}

/**
 * The rows that the index reads for a part, as the planner can
 * estimate them: for the index any sign is the end of a word.
 */
export function readForPart({ index }: SearchedTexts, { before, letters, after }: Part): Condition {
  const [begins, ends] = [before === '' ? '' : '(^|[^[:alnum:]])', after === '' ? '' : '($|[^[:alnum:]])'];
  return sql`${index} ~ lower(${`${begins}${letters}${ends}`})`;
}

function wayBy(texts: SearchedTexts, part: Part): SearchWay {
  return { indexed: holdsPart(texts, part), asked: [{ table: texts.table, read: readForPart(texts, part) }] };
}

/**
 * Whether the text is in one of the columns, not across the
 * end of one. It is not a pattern: a sign stands for itself.
 */
export function holdsIn({ columns, index }: SearchedTexts, text: string): Condition {
  if (index === SEARCH_TEXT && !text.includes('\n')) return sql`strpos(search_text, lower(${text})) > 0`;
  return sql.join(
    columns.map((column) => sql`strpos(lower(${sql.ref(column)}), lower(${text})) > 0`),
    sql` or `,
  );
}
