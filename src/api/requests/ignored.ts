import { z } from 'zod';

/** Names the query parameters of a request that its route does not know, and that meant nothing therefore. */
export const IGNORED_HEADER = 'X-Ignored-Parameters';

/** A query is as long as a header may be: no more of it is given back than somebody reads. */
const MOST_NAMES = 10;
const MOST_CHARACTERS = 64;
/** The most slips between a name and the one that was meant; a short name has room for one. */
const MOST_SLIPS = 2;
const SHORT_NAME = 4;

/**
 * The value of {@link IGNORED_HEADER}, undefined where there is nothing to say: the names that are not known,
 * each with the known name that it is nearest to. Names are the sender's, so whatever is no
 * letter, digit, dot, dash or underscore is percent-encoded, and what is long or more is cut.
 */
export function ignoredParameters(
  schema: z.ZodType | undefined,
  query: Readonly<Record<string, unknown>>,
): string | undefined {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const names = Object.keys(query).filter((name) => !known.includes(name));
  if (names.length === 0) return undefined;
  const told = names.slice(0, MOST_NAMES).map((name) => {
    const meant = nearestOf(name, known);
    return meant === undefined ? shown(name) : `${shown(name)} (did you mean ${meant}?)`;
  });
  const more = names.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** As it can stand in a header: visible ASCII without the separators of the list. */
function shown(name: string): string {
  let text = '';
  for (const character of name) {
    const next = /[\w.-]/.test(character) ? character : encoded(character);
    if (text.length + next.length > MOST_CHARACTERS) return `${text}...`;
    text += next;
  }
  return text === '' ? '(empty)' : text;
}

/** Every byte as `%XX`; `encodeURIComponent` would leave quotes and brackets as they are. */
function encoded(character: string): string {
  return [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

/**
 * The known name that was probably meant: the same in another style of writing, a slip or two away, or the
 * only one that has these words among its own, as `customer_id` has `customer`.
 */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  if (name.length > MOST_CHARACTERS) return undefined;
  const written = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  const near = nearestWord(written, known);
  if (near !== undefined || written === '') return near;
  const longer = known.filter((one) => `_${one}_`.includes(`_${written}_`));
  return longer.length === 1 ? longer[0] : undefined;
}

/** The known word that is a slip or two away from a written one: what was probably meant. */
function nearestWord(written: string, known: readonly string[]): string | undefined {
  const most = written.length <= SHORT_NAME ? 1 : MOST_SLIPS;
  const near = known
    .map((one) => ({ one, slips: slipsBetween(written, one) }))
    .filter(({ slips }) => slips <= most)
    .sort((a, b) => a.slips - b.slips);
  return near[0]?.one;
}

/** Letters that are missing, too many, wrong, or changed places with their neighbour. */
function slipsBetween(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > MOST_SLIPS) return Number.POSITIVE_INFINITY;
  // One row for each letter of `left`, the last two of which are looked back at.
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: right.length + 1 }, (_none, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const [mine, theirs] = [left[row - 1], right[column - 1]];
      const isSwap = mine === right[column - 2] && left[row - 2] === theirs;
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (mine === theirs ? 0 : 1),
        isSwap ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, last] = [last, next];
  }
  return last[right.length] ?? 0;
}
