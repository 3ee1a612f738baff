import { within } from '../base/async/within.ts';
import { withinLimit } from '../db/time-limit.ts';

/** The answer that somebody waits for; Node's own fits. */
export type AwaitedAnswer = {
  readonly closed: boolean;
  readonly writableFinished: boolean;
  once(event: 'close', heard: () => void): unknown;
  removeListener(event: 'close', heard: () => void): unknown;
};

/**
 * Who waits for how long. Without an answer to be sent nobody can go away before the time is up.
 * Work of a `party` takes its turn for a connection among the parties, where the pool has turns.
 */
export type Wait = {
  readonly limitMs: number;
  readonly answer?: AwaitedAnswer | undefined;
  readonly party?: string | undefined;
};

/**
 * The result of `work`, or what `late` gives as an error when it takes longer
 * than `limitMs`. No statement of the work goes on in the database then, nor when
 * the one who waits for the answer has gone. What was committed before stays.
 */
export async function withinTime<T>(
  { limitMs, answer, party }: Wait,
  work: () => Promise<T>,
  late: (cause: Error) => Error,
): Promise<T> {
  const endsAt = performance.now() + limitMs;
  const leftMs = (): number => (answer?.closed ? 0 : Math.max(0, endsAt - performance.now()));
  const onGone = (heard: () => void): (() => void) => {
    // Also said of an answer that was sent in full; what is left of its work then ends by its time.
    const closed = (): void => {
      if (!answer?.writableFinished) heard();
    };
    answer?.once('close', closed);
    return () => answer?.removeListener('close', closed);
  };
  return await within(limitMs, withinLimit({ party, leftMs, onGone }, work), () => {
    throw late(new Error(`no result within ${limitMs} ms`));
  });
}
