import type { Poll } from './poll.ts';

/** The rate is taken over this time, so that an hour of quiet does not hide how fast a catch-up is. */
const WINDOW_MS = 30_000;
const MAX_SAMPLES = 1_000;

/**
 * Turns polls of the chain into the line that operators read in the watcher's
 * heartbeat: heights, blocks done, and while it is behind the rate and the
 * time left. A block that was read twice counts once, because it is done once.
 */
export function createProgress(nowMs: () => number): (look: Poll) => string {
  const samples: { readonly at: number; readonly done: number }[] = [{ at: nowMs(), done: 0 }];
  let done = 0;
  return (look) => {
    const { cursor } = look;
    const at = nowMs();
    done += look.scanned;
    samples.push({ at, done });
    while (samples.length > 2 && ((samples[0]?.at ?? at) < at - WINDOW_MS || samples.length > MAX_SAMPLES))
      samples.shift();
    const heights = heightsText(cursor);
    const left = cursor.headNumber - cursor.scannedNumber;
    if (left <= 0) return `${heights}; ${done} blocks since the start`;
    const first = samples[0] ?? { at, done };
    const rate = (done - first.done) / Math.max(0.001, (at - first.at) / 1_000);
    const time = rate > 0 ? `about ${timeText(left / rate)} left` : 'standing still';
    return `${heights}; ${done} blocks since the start, ${left} to go at ${rate.toFixed(1)} blocks/s, ${time}`;
  };
}

function heightsText(cursor: Poll['cursor']): string {
  const { firstBlock, scannedNumber, headNumber, finalizedNumber, verifiedNumber } = cursor;
  const scanned = scannedNumber < firstBlock ? `begins at ${firstBlock}` : `scanned ${scannedNumber}`;
  const twice = verifiedNumber < firstBlock ? 'nothing read twice yet' : `read twice up to ${verifiedNumber}`;
  return `${scanned}, head ${headNumber}, final ${finalizedNumber}, ${twice}`;
}

function timeText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
