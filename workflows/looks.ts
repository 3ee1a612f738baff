import { CancellationScope, condition } from '@temporalio/workflow';
import { ASK_AGAIN_MS } from './timeouts.ts';

/** The looks of an actor at its row, one at a time, and the news that makes the next one come at once. */
export type Looks = {
  /** Says that the row has changed: a look that waits is given up for another one. */
  news(): void;
  /** True when there was no news since the last look began. */
  upToDate(): boolean;
  /**
   * Looks at the row. Returns undefined when news ended the look, and also when a
   * person ended it: then a moment later, so that the actor does not loop without
   * a pause. Throws those failures of the activity that `known` recognises.
   */
  look<T>(
    ask: () => Promise<unknown>,
    read: (answer: unknown) => T | undefined,
    known?: (error: unknown) => boolean,
  ): Promise<T | undefined>;
};

/**
 * The activity that asks must wait for the end of its cancellation: one that sleeps between two tries
 * ends at once, one that is under way gives its result first, and the next look never runs beside it.
 */
export function openLooks(): Looks {
  let told = 0;
  let seen = 0;
  let looking: CancellationScope | undefined;
  return {
    news: () => {
      told += 1;
      // Only once for each look: each cancellation makes an error, and
      // thousands of signals would take longer than a workflow task may.
      looking?.cancel();
      looking = undefined;
    },
    upToDate: () => told === seen,
    look: async (ask, read, known = () => false) => {
      const began = told;
      seen = told;
      const scope = new CancellationScope({ cancellable: true });
      looking = scope;
      try {
        const answer = read(await scope.run(ask));
        if (answer !== undefined) return answer;
      } catch (error) {
        if (known(error)) throw error;
      } finally {
        looking = undefined;
      }
      if (told === began) await condition(() => told !== began, ASK_AGAIN_MS);
      return undefined;
    },
  };
}
