import stringWidth from 'string-width';
import { harmless } from '../base/terminal.ts';
import { terminal } from './terminal.ts';

const MOST = 100;
const LEAST = 40;
const SEGMENTER = new Intl.Segmenter();
/**
 * One with which a line begins tells what to do, which no text of somebody else may; what stands before it
 * and is not seen hides nothing.
 */
const ARROW =
  /^[\s\u2800\p{M}\p{Default_Ignorable_Code_Point}]*[\u2190-\u21ff\u2794-\u27be\u27f0-\u27ff\u2900-\u297f\u2b00-\u2bff\uffe9-\uffec\u{1f800}-\u{1f8ff}]/u;
/** Beside the dot there has to be room for a wide character, or the text would come to no end. */
const LEAST_FOR_DOT = 3;

/** How many columns a line may take: 100, and fewer on a terminal that has fewer. */
export function room(): number {
  const { isTTY, columns } = terminal().stdout;
  return isTTY && columns ? Math.max(LEAST, Math.min(MOST, columns)) : MOST;
}

/**
 * The columns that one line takes in a terminal: two for
 * each wide character, none for what joins another one.
 */
export function columnsOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth(text);
}

/** The text, filled up with spaces to this many columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

/**
 * One line as several that fit, the first behind `head` and the others indented as far: broken at spaces, and
 * within a word that is longer than a line. For data, of which every character counts; an arrow with which a
 * line of it would begin has a dot before it.
 */
export function wrapped(line: string, head = ''): string[] {
  const indent = columnsOf(head);
  const lines: string[] = [];
  for (let rest = line; rest !== '' || lines.length === 0; ) {
    const most = room() - indent;
    let end = endOfLine(rest, most);
    // Of this line alone: what is not seen may be long, and every line would read all that is left.
    if (ARROW.test(rest.slice(0, end)) && most > LEAST_FOR_DOT) {
      rest = `·${rest}`;
      end = endOfLine(rest, most);
    }
    lines.push((lines.length === 0 ? head : ' '.repeat(indent)) + rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return lines;
}

/** Where the text has to end so that it fits; always behind at least one character. */
function endOfLine(text: string, most: number): number {
  if (text.length <= most && columnsOf(text) <= most) return text.length;
  let taken = 0;
  let space = 0;
  for (const { segment, index } of SEGMENTER.segment(text)) {
    if (segment === ' ') space = index;
    taken += columnsOf(segment);
    if (taken > most) return space > 0 ? space : Math.max(index, segment.length);
  }
  return text.length;
}

/**
 * Lines of sentences as lines that fit, each indented as far as it began, without characters that a terminal
 * would act on. A word is left whole even where it is longer than a line: it may be a link.
 */
export function folded(text: string): string {
  return text.split('\n').map(harmless).flatMap(foldedLine).join('\n');
}

function foldedLine(line: string): string[] {
  if (columnsOf(line) <= room()) return [line];
  const indent = ' '.repeat(line.length - line.trimStart().length);
  const lines: string[] = [];
  let current = '';
  for (const word of line.trim().split(' ')) {
    const longer = current === '' ? indent + word : `${current} ${word}`;
    if (current !== '' && columnsOf(longer) > room()) {
      lines.push(current);
      current = indent + word;
    } else current = longer;
  }
  return [...lines, current];
}
