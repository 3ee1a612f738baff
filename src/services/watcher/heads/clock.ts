import type { HeadPace } from '../../../chains/pace.ts';
import type { ChainReader } from '../../../chains/reader.ts';
import { forget, type Hints, hear, isAwaited, judge, listenUntilMs, NO_HINTS } from './hints.ts';
import { intervalMs, learn, newPace, type Pace, waitMs } from './pace.ts';

/** Tells one watcher when to ask for the head: when the next block is announced, or when it can be there. */
export interface HeadClock {
  /** Tells the clock what a question that was asked at `atMs` (of the same clock) was answered with. */
  answered(answer: { readonly atMs: number; readonly number: number }): void;
  /** Resolves when it is time to ask again. Throws the signal's reason. */
  wait(): Promise<void>;
  /** Stops listening. */
  close(): void;
}

/** What a clock knows between two questions. Pure values. */
export type Known = {
  readonly pace: Pace;
  readonly hints: Hints;
  /** Why the next question is asked. */
  readonly cause: Cause;
  /** Whether the last question was asked because of an announcement, and found nothing new. */
  readonly inVain: boolean;
};
/** `silence`: later than by the pace, because an announcement was waited for that did not come. */
type Cause = 'pace' | 'announcement' | 'silence';

/** Nothing is known yet. */
export function nothingKnown(limits: HeadPace): Known {
  return { pace: newPace(limits), hints: NO_HINTS, cause: 'pace', inVain: false };
}

/** Announcements are not waited for longer than this after the moment in which a block was expected. */
const MAX_LISTEN_MS = 1_000;
/**
 * Once in this many blocks the clock asks as if nothing were
 * announced, so that announcements that come late are found out.
 */
const COMPARED_EVERY = 8;

/**
 * Starts to listen for announcements, where the reader offers them, until `close` or until `signal` aborts.
 */
export function createHeadClock(
  reader: Pick<ChainReader, 'hint' | 'pace'>,
  now: () => number,
  signal: AbortSignal,
): HeadClock {
  const closed = new AbortController();
  let known = nothingKnown(reader.pace.head);
  let wake = (): void => undefined;
  const change = (hints: Hints): void => {
    known = { ...known, hints };
    wake();
  };
  const listener = {
    announced: (number: number) =>
      change(hear(known.hints, { atMs: now(), number, known: known.pace.number })),
    lost: () => change(forget(known.hints)),
  };
  reader.hint?.(listener, AbortSignal.any([signal, closed.signal]));
  return {
    answered: (answer) => {
      known = answered(known, answer);
    },
    wait: async () => {
      const sinceMs = now();
      for (;;) {
        const { atMs, cause } = nextQuestion(known, sinceMs);
        const ms = atMs - now();
        if (ms <= 0) {
          known = { ...known, cause };
          return;
        }
        await nap(ms, signal, (end) => {
          wake = end;
        });
      }
    },
    close: () => closed.abort(new Error('closed')),
  };
}

/** What is known after an answer. */
export function answered(
  { pace, hints, cause }: Known,
  answer: { readonly atMs: number; readonly number: number },
): Known {
  // A question that was asked in vain because of an announcement says nothing about when blocks come.
  const inVain = cause === 'announcement' && pace.number !== undefined && answer.number <= pace.number;
  const learnt = inVain ? pace : learn(pace, cause === 'silence' ? inTime(pace, answer) : answer);
  const isNew = pace.number !== undefined && answer.number > pace.number;
  return { pace: learnt, hints: judge(hints, { ...answer, isNew }), cause: 'pace', inVain };
}

/**
 * When a caller that has waited since `sinceMs` should ask next: at once when
 * a block is announced; later than by the pace alone while announcements are
 * followed and the last of them is less than two blocks old; else by the pace.
 */
export function nextQuestion(
  { pace, hints, inVain }: Known,
  sinceMs: number,
): { readonly atMs: number; readonly cause: Cause } {
  if (isAwaited(hints)) return { atMs: sinceMs, cause: 'announcement' };
  const paceMs = sinceMs + Math.max(inVain ? pace.limits.closestMs : 0, waitMs(pace, sinceMs));
  const interval = intervalMs(pace);
  const comparing = pace.missedMs !== undefined || (pace.number ?? 0) % COMPARED_EVERY === 0;
  const untilMs = interval === undefined || comparing ? undefined : listenUntilMs(hints, interval);
  const listenMs = Math.min(untilMs ?? paceMs, paceMs + MAX_LISTEN_MS);
  return listenMs > paceMs ? { atMs: listenMs, cause: 'silence' } : { atMs: paceMs, cause: 'pace' };
}

/**
 * Corrects the time of an answer that came too late to show
 * when the block did: the block came when it was expected.
 */
function inTime(
  pace: Pace,
  { atMs, number }: { readonly atMs: number; readonly number: number },
): { atMs: number; number: number } {
  const blocks = Math.max(0, number - (pace.number ?? number));
  return {
    atMs: blocks === 0 ? atMs : Math.min(atMs, pace.cameMs + blocks * (intervalMs(pace) ?? 0)),
    number,
  };
}

/** Sleeps for `ms`, or for less when `end` is called. Throws the signal's reason. */
async function nap(ms: number, signal: AbortSignal, take: (end: () => void) => void): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
    take(end);
  });
  signal.throwIfAborted();
}
