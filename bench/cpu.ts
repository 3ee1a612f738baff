import { readFileSync } from 'node:fs';
import { processTree } from '../src/base/process-table.ts';

const TICKS_PER_SECOND = 100;

/**
 * CPU seconds per second of this process and all its servers over a while,
 * from the kernel's table. Unlike a time it hardly depends on what else
 * the machine does. What a process used that ended in between is not seen.
 */
export async function cpuShare(windowMs: number): Promise<number> {
  const began = performance.now();
  const used = await cpuSecondsOf(() => new Promise((resolve) => setTimeout(resolve, windowMs)));
  return used / ((performance.now() - began) / 1_000);
}

/** CPU seconds of the same processes while `work` runs. */
export async function cpuSecondsOf(work: () => Promise<unknown>): Promise<number> {
  const before = cpuSecondsByPid();
  await work();
  let used = 0;
  for (const [pid, seconds] of cpuSecondsByPid()) used += seconds - (before.get(pid) ?? 0);
  return used;
}

function cpuSecondsByPid(): Map<number, number> {
  const seconds = new Map<number, number>();
  for (const pid of new Set([process.pid, ...processTree(process.pid).map((member) => member.pid)])) {
    try {
      // The name of the program may hold spaces and brackets: fields are counted from behind it.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      seconds.set(pid, (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND);
    } catch {
      // It has ended.
    }
  }
  return seconds;
}
