// Final blocks whose trace could not be had when they were read, although it may be had later.
import type { MissedTraces } from '../../reader.ts';

type Missed = { readonly tries: number; readonly dueAt: number };

const FIRST_MS = 2_000;
const LONGEST_MS = 120_000;
/** About ten minutes of asking; after that only reconciliation passes can find what was missed. */
const MAX_TRIES = 10;
/** A catch-up behind a limit can miss many; what is beyond this is left to reconciliation passes too. */
const MAX_BLOCKS = 2_000;

/** Remembers such blocks for one process. `report` is called with what is given up. */
export function createMissedTraces(options: {
  readonly now: () => number;
  readonly report?: ((message: string) => void) | undefined;
}): MissedTraces & { note(number: number): void } {
  const { now, report } = options;
  const missed = new Map<number, Missed>();
  const giveUp = (number: number): void =>
    report?.(
      `the trace of block ${number} could not be had; the comparison of balances looks for what it would have shown`,
    );

  return {
    note(number) {
      if (missed.has(number)) return;
      if (missed.size >= MAX_BLOCKS) giveUp(number);
      else missed.set(number, { tries: 0, dueAt: now() + FIRST_MS });
    },
    due() {
      const numbers: number[] = [];
      for (const [number, { tries, dueAt }] of missed) {
        if (dueAt > now()) continue;
        if (tries < MAX_TRIES) {
          numbers.push(number);
          missed.set(number, {
            tries: tries + 1,
            dueAt: now() + Math.min(FIRST_MS * 2 ** (tries + 1), LONGEST_MS),
          });
        } else {
          missed.delete(number);
          giveUp(number);
        }
      }
      return numbers;
    },
    done: (number) => void missed.delete(number),
  };
}
