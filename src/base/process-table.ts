import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** One process of this machine, told apart from a later one that was given the same number. */
export type ProcessIdentity = { readonly pid: number; readonly startedAt: string };

const linux = process.platform === 'linux';

/**
 * The fields of /proc/PID/stat from the third on. The second is
 * the program's name, which may itself hold spaces and brackets.
 */
function statFields(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch (error) {
    // Anything else, such as too many open files, must not read as "gone".
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function ps(args: readonly string[]): string {
  try {
    return execFileSync('ps', args, { encoding: 'latin1', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

let bootId: string | undefined;

/**
 * When a process began, as an opaque string, or undefined where it has ended (a zombie
 * counts as ended: it only waits to be reaped).
 */
export function startedAt(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (!linux) return ps(['-o', 'lstart=', '-p', String(pid)]).trim() || undefined;
  const fields = statFields(pid);
  if (!fields || fields[0] === 'X') return undefined;
  // The first thread can be a zombie while others of a killed process still hold its files and locks.
  if (fields[0] === 'Z' && Number(fields[17]) <= 1) return undefined;
  // Ticks count from the boot, so they are only unique together with it.
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  return `${bootId}:${fields[19]}`;
}

/** The identity of a running process, or undefined where there is none. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = startedAt(pid);
  return started === undefined ? undefined : { pid, startedAt: started };
}

/** True while exactly this process runs; false once its number belongs to another one. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  return startedAt(identity.pid) === identity.startedAt;
}

function parents(): Map<number, number> {
  if (!linux) {
    const lines = ps(['-axo', 'pid=,ppid=']).split('\n');
    return new Map(
      lines.map((line) => line.trim().split(/\s+/).map(Number)).map(([pid = 0, parent = 0]) => [pid, parent]),
    );
  }
  const found = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statFields(Number(name));
    if (fields) found.set(Number(name), Number(fields[1]));
  }
  return found;
}

/**
 * A process and everything it started, the process itself first. PostgreSQL's
 * workers leave its process group, so the parents are what counts.
 */
export function processTree(pid: number): ProcessIdentity[] {
  const table = parents();
  const wanted = [pid];
  for (const known of wanted)
    for (const [child, parent] of table) if (parent === known && !wanted.includes(child)) wanted.push(child);
  return wanted.map(identify).filter((identity) => identity !== undefined);
}

/** Sends a signal to exactly this process; false where it is gone already. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isSameProcess(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}
