/** What stands in a cell. Amounts are decimal strings, so that no cent is lost on the way. */
export type CsvCell = string | number | boolean | null;

/** Spreadsheet programs take a text without it for one in the character set of their country. */
export const CSV_MARK = '\uFEFF';

/**
 * Rows as RFC 4180 has them: commas, lines that end in CRLF, quotes where a cell needs them. A text that a
 * spreadsheet program would take for a formula gets an apostrophe, which such programs read as "text".
 */
export function csvOf(rows: Iterable<readonly CsvCell[]>): string {
  let text = '';
  for (const row of rows) text += `${row.map(cellOf).join(',')}\r\n`;
  return text;
}

/** A cell's text in the file, quoted where it has to be. */
function cellOf(cell: CsvCell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' ? defused(cell) : String(cell);
  return /[",;\t\r\n|]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A number as it is written by us: no program calculates anything when it reads one. */
const NUMBER = /^-?\d+(\.\d+)?$/;
/**
 * What begins a formula, also in the width of East Asian keyboards, behind spaces, quotes and marks that some
 * programs skip. A tab or a line's end at the beginning is dropped by some, and what follows looked at then.
 */
const FORMULA = /^(?:[\t\r\n]|[\s"'\u200B-\u200F\u2060]*[=+\-@＝＋－＠])/;
/**
 * A program that is set to another separator than the comma cuts cells there, inside of quotes
 * as well: what comes behind begins a cell then.
 */
const INNER_FORMULA =
  /(?<=[;\t|\r\n])(?=[ \v\f\u00A0\u1680\u2000-\u200F\u2028\u2029\u202F\u205F\u2060\u3000\uFEFF"']*[=+\-@＝＋－＠])/g;

/**
 * The text with an apostrophe wherever a cell could begin with a formula, or unchanged: plain decimal
 * numbers below zero are no formulas, and stay numbers.
 */
export function defused(text: string): string {
  if (NUMBER.test(text)) return text;
  const inner = text.replace(INNER_FORMULA, "'");
  return FORMULA.test(text) ? `'${inner}` : inner;
}
