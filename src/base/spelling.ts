/** The most slips between a name and the one that was meant; a short name has room for one. */
const MOST_SLIPS = 2;
const SHORT_NAME = 4;

/** The known word that is a slip or two away from a written one: what was probably meant. */
export function nearestWord(written: string, known: readonly string[]): string | undefined {
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
