// A watcher and a chain on a clock of their own: blocks come when
// a test says, and somebody announces them, or something else.
import { BSC_PACE } from '../../../src/chains/bsc/pace.ts';
import {
  answered,
  type Known,
  nextQuestion,
  nothingKnown,
} from '../../../src/services/watcher/heads/clock.ts';
import { hear } from '../../../src/services/watcher/heads/hints.ts';

export type Announcement = { readonly atMs: number; readonly number: number };
export type Watched = {
  /** When each block was found. */
  readonly foundMs: readonly number[];
  /** When each question was asked. */
  readonly askedMs: readonly number[];
};

/**
 * Asks for the head as a watcher does until every block is found;
 * `blocks` are the moments in which they come, the first has height 1.
 */
export function watch(
  blocks: readonly number[],
  announcements: readonly Announcement[],
  answerMs = 5,
): Watched {
  const coming = announcements.toSorted((a, b) => a.atMs - b.atMs);
  const [foundMs, askedMs]: [number[], number[]] = [[], []];
  let known: Known = nothingKnown(BSC_PACE.head);
  let nowMs = 0;
  let height = 0;
  let next = 0;
  const passTo = (untilMs: number, isOver: () => boolean = () => false): void => {
    for (let one = coming[next]; one && one.atMs < untilMs && !isOver(); one = coming[next]) {
      next += 1;
      nowMs = Math.max(nowMs, one.atMs);
      known = { ...known, hints: hear(known.hints, { ...one, known: known.pace.number }) };
    }
  };
  while (foundMs.length < blocks.length) {
    const askMs = nowMs;
    askedMs.push(askMs);
    while ((blocks[height] ?? Number.POSITIVE_INFINITY) <= askMs) height += 1;
    passTo(askMs + answerMs);
    nowMs = askMs + answerMs;
    known = answered(known, { atMs: askMs, number: height });
    while (foundMs.length < height) foundMs.push(nowMs);
    const sinceMs = nowMs;
    passTo(Number.POSITIVE_INFINITY, () => (coming[next]?.atMs ?? 0) >= nextQuestion(known, sinceMs).atMs);
    const { atMs, cause } = nextQuestion(known, sinceMs);
    nowMs = Math.max(nowMs, atMs);
    known = { ...known, cause };
  }
  return { foundMs, askedMs };
}
