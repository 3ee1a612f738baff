import type { FinalPace, HeadPace, ReaderPace } from '../../../chains/pace.ts';

/**
 * When the next head can exist, learned from when the last ones were
 * seen. Times are milliseconds of any steady clock. Pure values.
 */
export type Pace = {
  /** What the chain allows. */
  readonly limits: HeadPace;
  /** How long each of the last blocks took, newest last. */
  readonly intervals: readonly number[];
  readonly number: number | undefined;
  /** When the newest block came, as far as can be told. */
  readonly cameMs: number;
  /** When the last question after that block was asked that found nothing new. */
  readonly missedMs: number | undefined;
  /**
   * By how much earlier the newest block may have come; counted for a chain whose blocks come by the clock.
   */
  readonly uncertainMs: number;
};

const REMEMBERED = 16;
/** With fewer intervals it cannot be told whether blocks come at regular ones at all. */
const ENOUGH = 6;
/**
 * A late block may take long: the longer it is awaited, the
 * wider the gaps between questions, by this share of the time.
 */
const GAP_OF_OVERDUE = 1 / 8;

/**
 * Nothing is known yet: the head is asked for at the closest gap. No
 * prediction reaches beyond the longest block, so that a watcher stays awake.
 */
export function newPace(limits: HeadPace): Pace {
  const uncertainMs = limits.byTheClock?.everyMs ?? 0;
  return { limits, intervals: [], number: undefined, cameMs: 0, missedMs: undefined, uncertainMs };
}

/** What a question that was asked at `atMs`, and answered with this height, tells. */
export function learn(
  pace: Pace,
  { atMs, number }: { readonly atMs: number; readonly number: number },
): Pace {
  if (pace.number === undefined) return { ...pace, number, cameMs: atMs, missedMs: undefined };
  if (number <= pace.number) return { ...pace, missedMs: atMs };
  // A block came in the middle between two questions; one that was
  // there at the first question came a little earlier than we believed.
  const { byTheClock } = pace.limits;
  const blocks = number - pace.number;
  const came = byTheClock ? cameByTheClock(pace, byTheClock, { atMs, blocks }) : cameBetween(pace, atMs);
  const cameMs = Math.max(pace.cameMs, came);
  // Of several blocks at once each took its share of the time: so
  // a chain that became faster than the questions is found out.
  const intervals = [...pace.intervals, (cameMs - pace.cameMs) / blocks].slice(-REMEMBERED);
  const uncertainMs = pace.missedMs === undefined ? pace.uncertainMs / 2 : unseenMs(pace, atMs);
  return { ...pace, intervals, number, cameMs, missedMs: undefined, uncertainMs };
}

/**
 * A block that was there at once came when it was expected or earlier: by half of what is still unknown, so
 * that a few questions find the beat of the chain wherever the first one fell, and then by little. A late
 * question says nothing of when its block came. One that was missed came when it was seen.
 */
function cameByTheClock(
  { cameMs, missedMs, uncertainMs }: Pace,
  { everyMs, earlierMs }: NonNullable<HeadPace['byTheClock']>,
  { atMs, blocks }: { readonly atMs: number; readonly blocks: number },
): number {
  if (missedMs !== undefined) return atMs;
  return Math.min(atMs, cameMs + blocks * everyMs) - Math.max(earlierMs, uncertainMs / 2);
}

/**
 * How long nobody had asked when a block was seen that had been missed; nothing where that was a usual gap.
 */
function unseenMs(pace: Pace, atMs: number): number {
  const forMs = atMs - (pace.missedMs ?? atMs);
  return forMs > 2 * pace.limits.closestMs ? forMs : 0;
}

function cameBetween(pace: Pace, atMs: number): number {
  return pace.missedMs === undefined ? atMs - gapMs(pace) / 2 : (pace.missedMs + atMs) / 2;
}

/**
 * How long to wait before the head is asked for again: until the next block can be
 * there, then a gap at a time. Blocks that come at no regular interval are expected as
 * early as they came lately, and asked for at the closest gap, whatever that costs.
 */
export function waitMs(pace: Pace, nowMs: number): number {
  if (pace.intervals.length < ENOUGH && !pace.limits.byTheClock) return gapMs(pace);
  const { afterMs, everyMs } = plan(pace);
  const overdueMs = nowMs - (pace.cameMs + Math.min(pace.limits.longestBlockMs, afterMs));
  if (overdueMs < 0) return -overdueMs;
  if (pace.missedMs === undefined) return 0;
  return Math.min(pace.limits.widestMs, Math.max(everyMs, overdueMs * GAP_OF_OVERDUE));
}

/** What is final moves in steps of a block, at this distance from the head. */
export type KnownFinal = {
  readonly askedMs: number;
  readonly number: number;
  readonly distances: readonly number[];
};

/** What is known after an answer about the final block, given the head that was known then. */
export function learnFinal(
  known: KnownFinal | undefined,
  {
    atMs,
    number,
    headNumber,
  }: { readonly atMs: number; readonly number: number; readonly headNumber: number },
): KnownFinal {
  const distances = [...(known?.distances ?? []), Math.max(0, headNumber - number)].slice(-REMEMBERED);
  return { askedMs: atMs, number, distances };
}

/**
 * Whether to ask what is final: once it must have moved by some blocks, sooner where the head stands and
 * something is outstanding, and at once where that is one of these `awaited` blocks and the chain allows it.
 * But for the pace of a head that stands, one question for each newer head: where finality stalls, and
 * endpoints show several heads by turns, every other one is in vain.
 */
export function finalMayHaveMoved(
  { outstandingMs, quietMs, blocks, awaitedAtOnce }: FinalPace,
  known: KnownFinal | undefined,
  now: { readonly nowMs: number; readonly headNumber: number; readonly awaited?: readonly number[] },
): boolean {
  if (!known) return true;
  const { nowMs, headNumber, awaited = [] } = now;
  const number = headNumber - Math.min(...known.distances);
  const ahead = number - known.number;
  const forMs = nowMs - known.askedMs;
  if ((ahead > 0 && forMs >= outstandingMs) || forMs >= quietMs) return true;
  if (headNumber <= known.number + (known.distances.at(-1) ?? 0)) return false;
  if (ahead > blocks) return true;
  return awaitedAtOnce === true && awaited.some((one) => one > known.number && one <= number);
}

/** So many failures in a row are no reason to ask less often. */
const PATIENT_FAULTS = 10;

/** How long to wait after a poll that failed, with `faults` failures in a row: longer once they are many. */
export function faultPauseMs(
  pace: Pick<ReaderPace, 'faultPauseMs' | 'longestFaultPauseMs'>,
  faults: number,
): number {
  return Math.min(pace.longestFaultPauseMs, pace.faultPauseMs * Math.max(1, faults / PATIENT_FAULTS));
}

/**
 * How long after the last block to begin to ask, and at which
 * gap: after the middle interval when blocks come regularly.
 */
function plan(pace: Pace): { readonly afterMs: number; readonly everyMs: number } {
  const { byTheClock } = pace.limits;
  if (byTheClock) return { afterMs: byTheClock.everyMs, everyMs: gapMs(pace) };
  const [early, middle, late] = [intervalAt(pace, 0.1), intervalAt(pace, 0.5), intervalAt(pace, 0.9)];
  const regular = late - early <= Math.max(2 * pace.limits.closestMs, 0.35 * middle);
  return regular
    ? { afterMs: middle, everyMs: gapMs(pace) }
    : { afterMs: early, everyMs: pace.limits.closestMs };
}

function gapMs(pace: Pace): number {
  return Math.min(pace.limits.widestMs, Math.max(pace.limits.closestMs, intervalAt(pace, 0.5) / 6));
}

/** The interval that this share of the last ones did not exceed. */
function intervalAt({ intervals }: Pace, share: number): number {
  return intervals.toSorted((a, b) => a - b)[Math.floor((intervals.length - 1) * share)] ?? 0;
}
