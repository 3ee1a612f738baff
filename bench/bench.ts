// What every bench is made of: rows of its table, its numbers, and what it does again and again.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** One line of a bench's table. `goal` is empty where the figure is only told. */
export type Row = {
  readonly figure: string;
  readonly value: string;
  readonly goal: string;
  readonly met: boolean;
};

/** A figure that is only told. */
export function told(figure: string, value: string | number): Row {
  return { figure, value: String(value), goal: '', met: true };
}

/** A figure with a goal; its text says more than the number that is held to it. */
export function atMost(figure: string, value: string, [is, most]: readonly [number, number], unit = ''): Row {
  return { figure, value, goal: `≤ ${most.toLocaleString('en-US')}${unit}`, met: is <= most };
}

/** The same, of what has to be large. */
export function atLeast(figure: string, value: string, [is, least]: readonly [number, number]): Row {
  return { figure, value, goal: `≥ ${least}`, met: is >= least };
}

/** A ratio, and what it is of. */
export function ratioText(part: number, whole: number, unit: string, digits = 1): string {
  return `${(part / whole).toFixed(2)} (${part.toFixed(digits)}${unit} of ${whole.toFixed(digits)}${unit})`;
}

/** Half of the sample came within the first of both, 19 of 20 within the second. */
export function p50p95(values: readonly number[]): string {
  return `${percentile(values, 0.5).toFixed(0)} / ${percentile(values, 0.95).toFixed(0)} ms`;
}

/** The value below which the given share (0 to 1) of the sample lies, by the nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** A number that a variable makes smaller for a quick run; the goals hold for the standard. */
export function numberOf(variable: string, standard: number): number {
  return Number(process.env[variable] ?? standard);
}

/** Milliseconds that the work takes. */
export async function msOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Does it so many times, so many at a time. */
export async function inParallel(
  times: number,
  atOnce: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const turn = async (): Promise<void> => {
    while (next < times) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, turn));
}

/** Repeats it by the clock until it is ended: the next time begins so long after the one before began. */
export function byTheClock(everyMs: number, work: () => Promise<unknown>): { end(): Promise<void> } {
  let on = true;
  const turn = async (): Promise<void> => {
    while (on) {
      const next = Date.now() + everyMs;
      await work();
      await sleep(Math.max(0, next - Date.now()));
    }
  };
  const ended = turn();
  return {
    end: async () => {
      on = false;
      await ended;
    },
  };
}
