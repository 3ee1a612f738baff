import { facts, type List, listing, plain, table } from './table.ts';
import { wrapped } from './width.ts';

/** What the API shows of something, or of a part of it. */
export type View = Readonly<Record<string, unknown>>;
/**
 * A field of a view, fields that stand in one cell (`amount currency`), or a head of its own with its cells.
 */
export type Column = string | readonly [head: string, cell: string | ((view: View) => unknown)];

/** The most rows that a command lists, and the most values of one cell. */
export const MAX_LISTED = 1_000;
const MAX_IN_CELL = 5;

type Listed = Omit<List, 'header' | 'rows' | 'limit'> & {
  readonly columns: readonly Column[];
  readonly limit: number;
};

/** A list of views as a table of named columns, and what to do next. One that its limit cut off says so. */
export function listed(views: readonly View[], { columns, limit, ...texts }: Listed) {
  return listing({ ...tableOf(views, columns), ...texts, limit: { given: limit, most: MAX_LISTED } });
}

/** The table alone, without columns of all fields; nothing without views. */
export function viewTable(views: readonly View[], columns: readonly Column[] = fieldsOf(views)): string {
  const { header, rows } = tableOf(views, columns);
  return table(header, rows);
}

/** A view as `field  value` lines of what it has; each list that has columns is a table below them. */
export function viewText(view: View, lists: Readonly<Record<string, readonly Column[]>> = {}): string {
  const own = Object.entries(view).flatMap(([name, value]) => {
    const text = name in lists ? null : textOf(name, value);
    return text === null ? [] : [[name === 'is_live' ? 'mode' : name, text]];
  });
  const tables = Object.entries(lists).map(([name, columns]) => {
    const text = viewTable((view[name] ?? []) as readonly View[], columns);
    return text === '' ? '' : `${name.replaceAll('_', ' ')}:\n${text}`;
  });
  return paragraphs(facts(Object.fromEntries(own)), ...tables);
}

/** Why something is where it is, and what to do, before everything else. */
export function standingText({ why, action }: { why: string | null; action: string | null }): string {
  return [
    ...(why === null ? [] : wrapped(plain(why))),
    ...(action === null ? [] : wrapped(plain(action), '→ ')),
  ].join('\n');
}

/** Parts of a text with an empty line between them; empty ones are left out. */
export function paragraphs(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function tableOf(views: readonly View[], columns: readonly Column[]) {
  const header = columns.map((column) =>
    typeof column === 'string' ? headOf(column.split(' ', 1)[0] ?? '') : column[0],
  );
  return { header, rows: views.map((view) => columns.map((column) => cellOf(view, column))) };
}

const headOf = (name: string): string =>
  name === 'is_live' ? 'MODE' : name.replace(/_at$/, '').replaceAll('_', ' ').toUpperCase();

function cellOf(view: View, column: Column): unknown {
  const cell = typeof column === 'string' ? column : column[1];
  if (typeof cell === 'function') return cell(view);
  const texts = cell.split(' ').map((name) => textOf(name, view[name]));
  return texts.every((text) => text === null) ? null : texts.join(' ');
}

/** A value in one line; null where there is none. */
function textOf(name: string, value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (name === 'is_live') return value === true ? 'live' : 'test';
  if (!Array.isArray(value)) return typeof value === 'object' ? JSON.stringify(value) : String(value);
  const more = value.length - MAX_IN_CELL;
  const some = value.slice(0, MAX_IN_CELL).map((one) => textOf('', one));
  return some.length === 0 ? null : `${some.join(' ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The fields that hold no list and no object. */
function fieldsOf([first = {}]: readonly View[]): string[] {
  return Object.keys(first).filter((name) => typeof first[name] !== 'object' || first[name] === null);
}
