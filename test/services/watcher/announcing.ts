// A watcher and a chain on a clock of their own: blocks come when
// a test says, and somebody announces them, or something else.
import { BSC_PACE } from '../../../src/chains/bsc/pace.ts';
import type { HeadPace } from '../../../src/chains/pace.ts';
import {
  answered,
  type Known,
  nextQuestion,
  nothingKnown,
} from '../../../src/services/watcher/heads/clock.ts';
import { hear } from '../../../src/services/watcher/heads/hints.ts';

export type Announcement = { readonly atMs: number; readonly number: number };
export type Watched = {
  /** By how much later than it came each block was found. */
  readonly lateMs: readonly number[];
  /** When each question was asked. */
  readonly askedMs: readonly number[];
};
type Options = {
  readonly announcements?: readonly Announcement[];
  readonly limits?: HeadPace;
  /** How long an answer takes, where so many blocks were found. */
  readonly answerMs?: (found: number) => number;
};

/**
 * Asks for the head as a watcher does until every block is found;
 * `blocks` are the moments in which they come, the first has height 1.
 */
export function watch(
  blocks: readonly number[],
  { announcements = [], limits = BSC_PACE.head, answerMs = () => 5 }: Options = {},
): Watched {
  const coming = announcements.toSorted((a, b) => a.atMs - b.atMs);
  const [lateMs, askedMs]: [number[], number[]] = [[], []];
  let known: Known = nothingKnown(limits);
  let [nowMs, height, next] = [0, 0, 0];
  const passTo = (untilMs: number, isOver: () => boolean = () => false): void => {
    for (let one = coming[next]; one && one.atMs < untilMs && !isOver(); one = coming[next]) {
      next += 1;
      nowMs = Math.max(nowMs, one.atMs);
      known = { ...known, hints: hear(known.hints, { ...one, known: known.pace.number }) };
    }
  };
  while (lateMs.length < blocks.length) {
    const askMs = nowMs;
    const untilMs = askMs + answerMs(lateMs.length);
    askedMs.push(askMs);
    while ((blocks[height] ?? Number.POSITIVE_INFINITY) <= askMs) height += 1;
    passTo(untilMs);
    nowMs = untilMs;
    known = answered(known, { atMs: askMs, number: height });
    while (lateMs.length < height) lateMs.push(nowMs - (blocks[lateMs.length] ?? 0));
    const sinceMs = nowMs;
    passTo(Number.POSITIVE_INFINITY, () => (coming[next]?.atMs ?? 0) >= nextQuestion(known, sinceMs).atMs);
    const { atMs, cause } = nextQuestion(known, sinceMs);
    nowMs = Math.max(nowMs, atMs);
    known = { ...known, cause };
  }
  return { lateMs, askedMs };
}
