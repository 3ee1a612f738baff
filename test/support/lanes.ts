import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { processTree, signalProcess } from '../../src/base/process-table.ts';
import type { FileResult, FromLane } from './lane.ts';

// A whole run: lanes beside each other take test files from one queue, the longest first, so that all
// end at about the same time. Each lane has servers of its own, which its files share.

const ROOT = join(import.meta.dirname, '../..');
/** Seconds of each test file. Every whole run writes back what has changed much. */
const SECONDS_FILE = join(import.meta.dirname, 'seconds.json');
/** The long suite; tests of the soak, which runs in it, belong to it. */
const LONG = ['test/long/', 'bench/'];
/** A lane waits for servers and for children about half of its time. */
const LANES_BEYOND_CORES = 1;
const MOST_LANES = 6;
/** After its last file: what a lane opened and never closed keeps it from ending. */
const EXIT_GRACE_MS = Number(process.env['TEST_EXIT_GRACE_MS'] ?? 30_000);
/** A file whose seconds changed by less than this factor keeps its entry. */
const CHANGED = 2;
const LEAST_CHANGE_S = 3;

export type Suite = 'gate' | 'long';

type Run = {
  readonly env: NodeJS.ProcessEnv;
  /** After this time what still runs is ended, and counts as failed. */
  readonly limitMs: number;
  /** Told of each file when it has ended. */
  readonly onFile: (result: FileResult) => void;
};

/** Every test file of a suite, from the root of the repository. */
export function filesOf(suite: Suite): string[] {
  const files = globSync(['test/**/*.test.ts', 'bench/**/*.test.ts'], { cwd: ROOT }).sort();
  return files.filter((file) => LONG.some((folder) => file.startsWith(folder)) === (suite === 'long'));
}

/** Runs these files; returns when the last lane has ended. What goes wrong beside the tests is a failure. */
export async function runLanes(files: readonly string[], run: Run): Promise<void> {
  const known = readSeconds();
  const secondsOf = (file: string): number => known[file] ?? Number.POSITIVE_INFINITY;
  const queue = [...files].sort((a, b) => secondsOf(b) - secondsOf(a));
  const took: Record<string, number> = {};
  const lanes = new Set<ChildProcess>();
  let isOver = false;
  const limit = setTimeout(() => {
    isOver = true;
    queue.length = 0;
    for (const lane of lanes) endTree(lane);
  }, run.limitMs);
  const onFile = (result: FileResult): void => {
    took[result.file] = result.seconds;
    run.onFile(result);
  };
  const work = async (): Promise<void> => {
    while (queue.length > 0) await runLane(queue, { ...run, onFile }, lanes, () => isOver);
  };
  const count = Math.min(MOST_LANES, availableParallelism() + LANES_BEYOND_CORES);
  await Promise.all(Array.from({ length: count }, work));
  clearTimeout(limit);
  if (!isOver) keepSeconds(known, took, files);
}

/** A lane until the queue is empty, or until its process ends: then another one takes what is left. */
async function runLane(
  queue: string[],
  run: Run,
  lanes: Set<ChildProcess>,
  isOver: () => boolean,
): Promise<void> {
  const lane = fork(join(import.meta.dirname, 'lane.ts'), { cwd: ROOT, env: run.env });
  lanes.add(lane);
  let file: string | undefined;
  let grace: NodeJS.Timeout | undefined;
  let hung = false;
  lane.on('message', (message: FromLane) => {
    if ('file' in message) run.onFile(message);
    file = queue.shift();
    if (file !== undefined) {
      lane.send({ file });
      return;
    }
    lane.send({ end: true });
    grace = setTimeout(() => {
      hung = true;
      endTree(lane);
    }, EXIT_GRACE_MS);
  });
  const [code, signal] = (await once(lane, 'exit')) as [number | null, NodeJS.Signals | null];
  clearTimeout(grace);
  lanes.delete(lane);
  if (code === 0) return;
  const reason = isOver()
    ? `not done within ${run.limitMs / 60_000} minutes`
    : hung
      ? `a lane did not end within ${EXIT_GRACE_MS / 1_000} s after its last test: something it opened was never closed`
      : `its process ended with ${signal ?? code}`;
  const title = file ?? 'the end of a lane';
  run.onFile({ file: title, seconds: 0, passed: 0, failures: [{ title, reason }] });
  await (await import('../../dev/support/parts.ts')).clearKilledRuns();
}

function endTree({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const member of processTree(pid)) signalProcess(member, 'SIGKILL');
}

const readSeconds = (): Record<string, number> => JSON.parse(readFileSync(SECONDS_FILE, 'utf8'));

/**
 * Writes the seconds of new files and of those that take twice or half as long, and forgets files that
 * are gone: the table stays as it is while nothing changes.
 */
function keepSeconds(
  known: Readonly<Record<string, number>>,
  took: Readonly<Record<string, number>>,
  files: readonly string[],
): void {
  const hasChanged = (before: number, now: number): boolean =>
    Math.abs(now - before) > LEAST_CHANGE_S && Math.max(now / before, before / now) > CHANGED;
  const next = { ...known };
  for (const [file, seconds] of Object.entries(took)) {
    const before = known[file];
    if (before === undefined || hasChanged(before, seconds)) next[file] = Math.round(seconds * 10) / 10;
  }
  const all = new Set([...files, ...filesOf('gate'), ...filesOf('long')]);
  const rows = Object.entries(next).filter(([file]) => all.has(file));
  rows.sort(([a], [b]) => (a < b ? -1 : 1));
  const text = `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`;
  if (text !== readFileSync(SECONDS_FILE, 'utf8')) writeFileSync(SECONDS_FILE, text);
}
