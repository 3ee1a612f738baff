import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { processTree } from '../src/base/process-table.ts';

/** Processor seconds by part. PostgreSQL is told apart by whom its connections serve. */
export type Costs = ReadonlyMap<string, number>;

const LOOK_EVERY_MS = 250;
const TICKS_PER_SECOND = 100;

/**
 * What these processes and everything they started use while `work` runs, but for the processes in
 * `without`: those that serve whoever measures. They are looked at several times a second, so that what
 * a process used that ends in between is lost only from its last look on. Throws what `work` throws.
 */
export async function measureCosts<T>(
  parts: Readonly<Record<string, number | undefined>>,
  without: ReadonlySet<number>,
  work: () => Promise<T>,
  everyMs = LOOK_EVERY_MS,
): Promise<readonly [Costs, T]> {
  const first = new Map<number, number>();
  const last = new Map<number, { part: string; ticks: number }>();
  const look = (): void => {
    for (const [name, root] of Object.entries(parts)) {
      for (const { pid } of root === undefined ? [] : processTree(root)) {
        const ticks = without.has(pid) ? undefined : ticksOf(pid);
        if (ticks === undefined) continue;
        // What begins later began with nothing.
        if (!first.has(pid)) first.set(pid, begun ? 0 : ticks);
        last.set(pid, { part: name === 'PostgreSQL' ? servedBy(pid) : name, ticks });
      }
    }
  };
  let begun = false;
  look();
  begun = true;
  const timer = setInterval(look, everyMs);
  try {
    const result = await work();
    look();
    const costs = new Map<string, number>();
    for (const [pid, { part, ticks }] of last)
      costs.set(part, (costs.get(part) ?? 0) + (ticks - (first.get(pid) ?? 0)) / TICKS_PER_SECOND);
    return [costs, result];
  } finally {
    clearInterval(timer);
  }
}

function ticksOf(pid: number): number | undefined {
  try {
    // The name of the program may hold spaces and brackets: fields are counted from behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return undefined;
  }
}

/** A connection's process names the database that it serves; the others write for all of them. */
function servedBy(pid: number): string {
  const title = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  if (/ temporal(_visibility)? /.test(title)) return 'PostgreSQL for Temporal';
  return /\(\d+\)/.test(title)
    ? 'PostgreSQL for the gateway'
    : 'PostgreSQL for both (log, checkpoints, vacuum)';
}

/**
 * CPU seconds per second of this process and all its servers over a while,
 * from the kernel's table. Unlike a time it hardly depends on what else
 * the machine does.
 */
export async function cpuShare(windowMs: number): Promise<number> {
  const began = performance.now();
  const used = await cpuSecondsOf(() => new Promise((resolve) => setTimeout(resolve, windowMs)));
  return used / ((performance.now() - began) / 1_000);
}

/** CPU seconds of the same processes while `work` runs. */
export async function cpuSecondsOf(work: () => Promise<unknown>): Promise<number> {
  // Looking costs this process something, too.
  const [costs] = await measureCosts({ all: process.pid }, new Set(), work, 10_000);
  return costs.get('all') ?? 0;
}

/** MiB that this process holds after a collection: its engine's and its buffers', and all of it. */
export function heldNow(): { readonly heapMib: number; readonly residentMib: number } {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapMib: (heapUsed + external) / 2 ** 20, residentMib: rss / 2 ** 20 };
}
