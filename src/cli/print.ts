// How commands show what they found: one printer for a list, one for a thing, one for sentences.
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { harmless } from '../base/terminal.ts';
import { isoSeconds } from '../domain/events.ts';
import { terminal } from './terminal.ts';

/** What the API shows of something, or of a part of it. */
export type View = Readonly<Record<string, unknown>>;
/**
 * A field of a view, fields that stand in one cell (`amount currency`), or a head of its own with its cells.
 */
export type ViewColumn = string | readonly [head: string, cell: string | ((view: View) => unknown)];

/** The most rows that a command lists, and the most values of one cell. */
export const MAX_LISTED = 1_000;
const MAX_IN_CELL = 5;
const [LEAST_WIDTH, MOST_WIDTH] = [40, 100];
const GAP = '  ';
const BELOW = '    ';
const DAY_S = 86_400;

/**
 * What a service tells of a row, as a view of the API has it: names with underscores, times in whole seconds,
 * large numbers as text.
 */
export function viewOf(row: object): View {
  const told = (value: unknown): unknown =>
    value instanceof Date ? isoSeconds(value) : typeof value === 'bigint' ? value.toString() : value;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      told(value),
    ]),
  );
}

type ListTexts = {
  /** In the order of their importance; without them all fields that hold no object. */
  readonly columns?: readonly ViewColumn[];
  /** What an empty list says, and what to do then. */
  readonly none: string;
  /** What to do with a row. */
  readonly next: string;
  /** How many rows were asked for. */
  readonly limit?: number;
};

/** The text of a list for a person, and what to do next. A list that its limit cut off says so. */
export function listed(views: readonly View[], { columns, none, next, limit }: ListTexts) {
  if (views.length === 0) return { text: none };
  return { text: viewTable(views, columns), next: cutOff(views.length, limit) + next };
}

/** The sentence of a list that shows as many as were asked for, with a space behind it; else nothing. */
export function cutOff(count: number, limit: number | undefined): string {
  if (limit === undefined || count < limit) return '';
  const more =
    limit < MAX_LISTED ? `--limit shows more, up to ${MAX_LISTED}` : 'the options above narrow it down';
  return `Only the first ${count} are shown: ${more}. `;
}

/** The table alone; nothing without views. */
export function viewTable(views: readonly View[], columns: readonly ViewColumn[] = fieldsOf(views)): string {
  const header = columns.map((column) =>
    typeof column === 'string' ? headOf(column.split(' ', 1)[0] ?? '') : column[0],
  );
  return table(
    header,
    views.map((view) => columns.map((column) => cellOf(view, column))),
  );
}

/** A view as `field  value` lines of what it has; each list that has columns is a table below them. */
export function viewText(view: View, lists: Readonly<Record<string, readonly ViewColumn[]>> = {}): string {
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

const headOf = (name: string): string =>
  name === 'is_live' ? 'MODE' : name.replace(/_at$/, '').replaceAll('_', ' ').toUpperCase();

function cellOf(view: View, column: ViewColumn): unknown {
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

/** The fields that hold no object; a list of words is one. */
function fieldsOf([first = {}]: readonly View[]): string[] {
  return Object.keys(first).filter((name) => {
    const value = first[name];
    return (
      typeof value !== 'object' || value === null || (Array.isArray(value) && typeof value[0] !== 'object')
    );
  });
}

/**
 * A table for a person: columns as wide as their content, no lines. A value that does not fit
 * beside the others goes below its row with its name, so that no line is wider than the
 * terminal and nothing is cut off. Empty without rows.
 */
export function table(header: readonly string[], rows: readonly (readonly unknown[])[]): string {
  if (rows.length === 0) return '';
  const cells = [header, ...rows.map((row) => row.map(plain))];
  const widths = header.map((_, column) =>
    cells.reduce((most, row) => Math.max(most, stringWidth(row[column] ?? '')), 0),
  );
  const beside = columnsThatFit(widths);
  const below = header.map((_, column) => column).filter((column) => !beside.includes(column));
  return cells
    .flatMap((row, index) => {
      const line = beside.map((column) => padded(row[column] ?? '', widths[column] ?? 0)).join(GAP);
      const given = index === 0 ? [] : below.filter((column) => rows[index - 1]?.[column] != null);
      return [
        ...wrapped(line.trimEnd()),
        ...packed(given.map((column) => `${header[column]?.toLowerCase()} ${row[column]}`)),
      ];
    })
    .join('\n');
}

/** Takes columns from the left, each that still fits. */
function columnsThatFit(widths: readonly number[]): number[] {
  const taken: number[] = [];
  let free = room();
  for (const [column, width] of widths.entries()) {
    if (taken.length > 0 && width > free) continue;
    taken.push(column);
    free -= width + GAP.length;
  }
  return taken;
}

/** Puts several facts in one line while they fit, so that each one is whole within a line. */
function packed(facts: readonly string[]): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const longer = `${last}; ${fact}`;
    if (last !== undefined && stringWidth(longer) + BELOW.length <= room()) lines[lines.length - 1] = longer;
    else lines.push(fact);
  }
  return lines.flatMap((line) => wrapped(line, BELOW));
}

/** `name  value` lines. */
export function facts(values: Readonly<Record<string, unknown>>): string {
  const width = Math.max(...Object.keys(values).map((name) => stringWidth(name)));
  return Object.entries(values)
    .flatMap(([name, value]) => wrapped(plain(value), `${padded(name, width)}${GAP}`))
    .join('\n');
}

/** A value for a person: control characters of texts from others become dots. */
export function plain(value: unknown): string {
  return value === null || value === undefined ? '–' : harmless(String(value));
}

/** How long ago a time is, in its two largest units: `3d 4h`, `12min`, `8s`. Never negative. */
export function ageOf(iso: string): string {
  const seconds = Math.max(0, Math.floor((Date.now() - new Date(iso).getTime()) / 1_000));
  if (Number.isNaN(seconds)) return '–';
  const [days, hours, minutes] = [seconds / DAY_S, (seconds % DAY_S) / 3_600, (seconds % 3_600) / 60].map(
    Math.floor,
  );
  if (days) return `${days}d ${hours}h`;
  if (hours) return `${hours}h ${minutes}min`;
  return minutes ? `${minutes}min` : `${seconds}s`;
}

/** How many columns a line may take: 100, and fewer on a terminal that has fewer. */
function room(): number {
  const { isTTY, columns } = terminal().stdout;
  return isTTY && columns ? Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, columns)) : MOST_WIDTH;
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
}

/**
 * One line as several that fit, the first behind `head` and the others indented as far: broken at spaces, and
 * within a word that is longer than a line. Accents are put together (NFC); `--json` has the very characters.
 */
export function wrapped(line: string, head = ''): string[] {
  const indent = stringWidth(head);
  return wrapAnsi(line, room() - indent, { hard: true })
    .split('\n')
    .map((part, index) => (index === 0 ? head : ' '.repeat(indent)) + part);
}

/**
 * Lines of sentences as lines that fit, each indented as far as it began, without control characters. A word
 * is left whole even where it is longer than a line: it may be a link.
 */
export function folded(text: string): string {
  return text
    .split('\n')
    .map(harmless)
    .flatMap((line) => {
      const indent = ' '.repeat(line.length - line.trimStart().length);
      return wrapAnsi(line.trim(), room() - indent.length)
        .split('\n')
        .map((part) => indent + part);
    })
    .join('\n');
}
