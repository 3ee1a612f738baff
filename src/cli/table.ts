import stringWidth from 'string-width';
import { harmless } from '../base/terminal.ts';
import { padded, room, wrapped } from './width.ts';

const GAP = '  ';
const BELOW = '    ';

/**
 * What a list is made of. Columns are in the order of their importance: the first tells
 * rows apart, the last ones leave the table first.
 */
export type List = {
  readonly header: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** What an empty list says, and what to do then. */
  readonly none: string;
  /** What to do with a row. */
  readonly next: string;
  /** How many rows were asked for, and the most that can be. */
  readonly limit?: { readonly given: number; readonly most: number };
};

/** The text of a list for a person, and what to do next. A list that its limit cut off says so. */
export function listing({ header, rows, none, next, limit }: List): {
  readonly text: string;
  readonly next?: string;
} {
  return rows.length === 0
    ? { text: none }
    : { text: table(header, rows), next: [cutOff(rows.length, limit), next].join('') };
}

/** The sentence of a list that shows as many as were asked for, with a space behind it; else nothing. */
export function cutOff(count: number, limit: List['limit']): string {
  if (!limit || count < limit.given) return '';
  const more =
    limit.given < limit.most ? `--limit shows more, up to ${limit.most}` : 'the options above narrow it down';
  return `Only the first ${count} are shown: ${more}. `;
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
      const given = index === 0 ? [] : below.filter((column) => isThere(rows[index - 1]?.[column]));
      const facts = given.map((column) => `${header[column]?.toLowerCase()} ${row[column]}`);
      return [...wrapped(line.trimEnd()), ...packed(facts)];
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
  if (!isThere(value)) return '–';
  return harmless(value instanceof Date ? `${value.toISOString().slice(0, 19)}Z` : String(value));
}

const DAY_S = 86_400;

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

function isThere(value: unknown): boolean {
  return value !== null && value !== undefined;
}
