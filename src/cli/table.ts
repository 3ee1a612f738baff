import { harmless } from '../terminal.ts';

/** A table for a person: columns as wide as their content, no lines. `none` is what an empty one says. */
export function table(header: readonly string[], rows: readonly (readonly unknown[])[], none: string): string {
  if (rows.length === 0) return none;
  const cells = [header, ...rows.map((row) => row.map(plain))];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return cells.map((row) => line(row).trimEnd()).join('\n');
}

/** `name: value` lines. */
export function facts(values: Readonly<Record<string, unknown>>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(width)}  ${plain(value)}`.trimEnd())
    .join('\n');
}

/** One line as several that fit a terminal, each behind `indent`: broken at spaces, and within a word that is longer than a line. */
export function wrapped(line: string, indent = ''): string[] {
  const room = WIDTH - indent.length;
  const lines: string[] = [];
  for (let rest = line; rest !== ''; ) {
    const space = rest.length <= room ? rest.length : rest.lastIndexOf(' ', room);
    const end = space > 0 ? space : room;
    lines.push(indent + rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return lines;
}

/** A terminal's usual width. */
const WIDTH = 100;

/** A value for a person: no text of others moves the cursor or colours the terminal. */
export function plain(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return harmless(value instanceof Date ? `${value.toISOString().slice(0, 19)}Z` : String(value));
}
