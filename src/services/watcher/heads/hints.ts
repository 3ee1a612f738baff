/**
 * What announcements of new blocks are worth, judged by what the chain itself answers. Times are
 * milliseconds of any steady clock. Pure values: they decide when the head is asked for, and nothing else.
 */
export type Hints = {
  /** Announcements are followed while this is above 0. */
  readonly credit: number;
  /** The last announcement; `atMs` is when it came, undefined once an answer has shown what it was worth. */
  readonly number: number | undefined;
  readonly atMs: number | undefined;
  /** When a block that was not known was announced last. */
  readonly newsMs: number | undefined;
};

/**
 * An announcement that was right earns 1, one that was of no use
 * costs 8: so at most one question in nine is asked in vain.
 */
const COST = 8;
const MOST = 8;

/** Nothing was announced yet: the first announcement is followed. */
export const NO_HINTS: Hints = { credit: 1, number: undefined, atMs: undefined, newsMs: undefined };

/**
 * A block was announced while `known` was the newest one that had been found (undefined: none yet).
 * An announcement of a known block is no news. Until the next answer nothing more is listened to:
 * an endpoint that announces a thousand blocks a second causes no more than one question.
 */
export function hear(
  hints: Hints,
  { atMs, number, known }: { atMs: number; number: number; known: number | undefined },
): Hints {
  if (known === undefined || number <= known || number === hints.number || hints.atMs !== undefined)
    return hints;
  // A block before it was not announced, and a caller that waited for that announcement would have been late.
  const credit = number > known + 1 ? lower(hints.credit) : hints.credit;
  return { ...hints, credit, number, atMs, newsMs: atMs };
}

/**
 * What a question for the head that was asked at `atMs`, and answered with
 * this height, tells about the announcement before it. A new block
 * (`isNew`) without one was announced too late to be of use, or not at all.
 */
export function judge(
  hints: Hints,
  { atMs, number, isNew }: { atMs: number; number: number; isNew: boolean },
): Hints {
  if (hints.number === undefined || hints.atMs === undefined)
    return isNew ? { ...hints, credit: lower(hints.credit) } : hints;
  const isThere = number >= hints.number;
  // The announcement came while the question was under way: nobody knows whether the block was there already.
  if (atMs < hints.atMs) return isThere ? { ...hints, atMs: undefined } : hints;
  return {
    ...hints,
    atMs: undefined,
    credit: isThere ? Math.min(MOST, hints.credit + 1) : lower(hints.credit),
  };
}

/** The connection is gone, and what it announced with it; what announcements were worth stays known. */
export function forget(hints: Hints): Hints {
  return { ...hints, atMs: undefined, newsMs: undefined };
}

/** Whether the head is to be asked for at once. */
export function isAwaited(hints: Hints): boolean {
  return hints.credit > 0 && hints.atMs !== undefined;
}

/** Until when announcements may be waited for, after a last one; undefined where they are not followed. */
export function listenUntilMs(hints: Hints, intervalMs: number): number | undefined {
  return hints.credit > 0 && hints.newsMs !== undefined ? hints.newsMs + 2 * intervalMs : undefined;
}

function lower(credit: number): number {
  return Math.max(-MOST, credit - COST);
}
