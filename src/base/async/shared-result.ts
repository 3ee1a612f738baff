/** How old a result may be when it is given once more, counted from the beginning of its making. */
const FRESH_MS = 1_000;

/**
 * One result for every caller that asks while it is being made, and for those who ask within a second of
 * its beginning. So any number of callers cost what one costs, and nobody gets a result that is older than
 * a second, or than the time it takes to make. A failure is told to those who wait for it, and not kept.
 * `now` is a clock in milliseconds that never goes back.
 */
export function sharedResult<T>(
  make: () => Promise<T>,
  now: () => number = () => performance.now(),
): () => Promise<T> {
  let last: { readonly begunMs: number; readonly answer: Promise<T>; isOver: boolean } | undefined;
  return () => {
    if (last && (!last.isOver || now() - last.begunMs < FRESH_MS)) return last.answer;
    const made = { begunMs: now(), answer: make(), isOver: false };
    last = made;
    made.answer.then(
      () => {
        made.isOver = true;
      },
      () => {
        if (last === made) last = undefined;
      },
    );
    return made.answer;
  };
}
