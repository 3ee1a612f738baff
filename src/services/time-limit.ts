import { OutOfTime, within } from '../base/async/within.ts';
import { withinLimit } from '../db/time-limit.ts';

/** The answer that a caller waits for; Node's own response type fits. */
export type AwaitedAnswer = {
  readonly closed: boolean;
  readonly writableFinished: boolean;
  once(event: 'close', heard: () => void): unknown;
  removeListener(event: 'close', heard: () => void): unknown;
};

/**
 * Who waits and for how long. Without an `answer` no caller can leave before the time is up.
 * Work of a `party` takes its turn for a connection among the parties, if the pool has turns.
 */
export type Wait = {
  readonly limitMs: number;
  readonly answer?: AwaitedAnswer | undefined;
  readonly party?: string | undefined;
};

/**
 * The result of `work`; when it takes longer than `limitMs`, the error that `late`
 * makes. From then on no statement of the work goes on in the database, nor when
 * the caller who waits for the answer has left. What was committed before stays.
 */
export async function withinTime<T>(
  { limitMs, answer, party }: Wait,
  work: () => Promise<T>,
  late: (cause: Error) => Error,
): Promise<T> {
  const endsAt = performance.now() + limitMs;
  const leftMs = (): number => (answer?.closed ? 0 : Math.max(0, endsAt - performance.now()));
  const onGone = (heard: () => void): (() => void) => {
    // The event also comes after an answer that was sent in
    // full; what is left of its work then ends by its time.
    const closed = (): void => {
      if (!answer?.writableFinished) heard();
    };
    answer?.once('close', closed);
    return () => answer?.removeListener('close', closed);
  };
  return await within(limitMs, withinLimit({ party, leftMs, onGone }, work), () => {
    throw late(new OutOfTime(`no result within ${limitMs} ms`));
  });
}
