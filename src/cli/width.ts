import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { harmless } from '../base/terminal.ts';
import { terminal } from './terminal.ts';

const MOST = 100;
const LEAST = 40;

/** How many columns a line may take: 100, and fewer on a terminal that has fewer. */
export function room(): number {
  const { isTTY, columns } = terminal().stdout;
  return isTTY && columns ? Math.max(LEAST, Math.min(MOST, columns)) : MOST;
}

/** The text, filled up with spaces to this many columns. */
export function padded(text: string, columns: number): string {
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
  return text.split('\n').map(harmless).flatMap(foldedLine).join('\n');
}

function foldedLine(line: string): string[] {
  const indent = ' '.repeat(line.length - line.trimStart().length);
  return wrapAnsi(line.trim(), room() - indent.length)
    .split('\n')
    .map((part) => indent + part);
}
