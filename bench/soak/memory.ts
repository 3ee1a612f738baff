import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree } from '../../src/base/process-table.ts';

const LOOK_EVERY_MS = 3_000;

/**
 * The most that each part held at a time, in MiB, with the
 * processes it started; what several of them share is counted once.
 */
export type Peaks = ReadonlyMap<string, number>;

function heldKib(pid: number): number {
  try {
    return Number.parseInt(
      /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? '0',
      10,
    );
  } catch {
    return 0;
  }
}

/**
 * Looks every few seconds until the signal aborts. Where the
 * system does not tell (other than Linux), the table stays empty.
 */
export function watchMemory(
  parts: ReadonlyMap<string, () => number | undefined>,
  signal: AbortSignal,
): Peaks {
  const peaks = new Map<string, number>();
  const look = () => {
    for (const [name, pid] of parts) {
      const root = pid();
      if (root === undefined) continue;
      const kib = (root === process.pid ? [{ pid: root }] : processTree(root)).reduce(
        (total, { pid: member }) => total + heldKib(member),
        0,
      );
      if (kib > 0) peaks.set(name, Math.max(peaks.get(name) ?? 0, Math.round(kib / 1_024)));
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      look();
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  void run().catch(() => undefined);
  return peaks;
}
