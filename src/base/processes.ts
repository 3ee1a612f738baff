import { spawn } from 'node:child_process';
import { pause } from './async/pause.ts';
import { type ChildOutput, openChildOutput } from './child-output.ts';
import { readRecords, writeRecords } from './child-records.ts';
import {
  identify,
  isSameProcess,
  type ProcessIdentity,
  processTree,
  signalProcess,
} from './process-table.ts';

/** Takes one line of progress for a person. */
export type Print = (line: string) => void;

/** What to start, and how to stop it. */
export type ChildSpec = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Where its output goes; without it only the end of the output is kept, in memory. */
  readonly logFile?: string;
  /** Where it is recorded, so that the next start over the same folder finds it if we are killed. */
  readonly dataDir?: string;
  readonly stopSignal?: NodeJS.Signals;
  readonly stopTimeoutMs?: number;
};

/** A running child process. */
export type Child = {
  readonly pid: number;
  running(): boolean;
  /** Its exit code, or the signal that ended it; null while it runs. */
  status(): number | NodeJS.Signals | null;
  /** The end of what it printed, for an error message. */
  output(): string;
  /** Ends it in good order, by force after `stopTimeoutMs`. Safe to call twice. */
  stop(): Promise<void>;
  /** SIGKILL for it and everything it started, as a crash would: returns when all of it is gone. */
  kill(): Promise<void>;
  /** Freezes it: its sockets stay open, and nothing answers on them. */
  pause(): void;
  resume(): void;
};

/** What can be done to each of our servers, whatever it serves. */
export type RunningServer = Pick<Child, 'pid' | 'stop' | 'kill' | 'pause' | 'resume'> & {
  readonly port: number;
};

type LiveChild = {
  readonly identity: ProcessIdentity;
  readonly spec: ChildSpec;
  readonly output: ChildOutput;
};

const POLL_MS = 15;
const STOP_TIMEOUT_MS = 10_000;
const EXIT_GRACE_MS = 4_000;

// Signals and exit concern the whole process, not one caller: this list is the one place
// that knows which children must not outlive it.
const live = new Set<LiveChild>();

async function waitGone(identities: readonly ProcessIdentity[], timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (identities.some(isSameProcess)) {
    if (Date.now() > deadline) return false;
    await pause(POLL_MS);
  }
  return true;
}

async function killTree(pid: number): Promise<void> {
  const tree = processTree(pid);
  for (const member of tree) signalProcess(member, 'SIGKILL');
  await waitGone(tree, STOP_TIMEOUT_MS);
}

function signalTree(pid: number, signal: NodeJS.Signals): void {
  for (const member of processTree(pid)) signalProcess(member, signal);
}

async function end(identity: ProcessIdentity, signal: NodeJS.Signals, timeoutMs: number): Promise<void> {
  signalProcess(identity, signal);
  signalTree(identity.pid, 'SIGCONT'); // a frozen process hears nothing else
  if (!(await waitGone([identity], timeoutMs))) await killTree(identity.pid);
}

/**
 * Stops every process that a killed owner left behind in this data folder. A process whose
 * owner still runs is left alone, and so is a process that merely got the number of a
 * recorded one. Returns the names of what was stopped.
 */
export async function stopLeftovers(dataDir: string, log: Print): Promise<string[]> {
  const orphans = readRecords(dataDir).filter(
    (record) => isSameProcess(record) && !isSameProcess(record.owner),
  );
  for (const orphan of orphans) {
    log(`stopping ${orphan.name} (process ${orphan.pid}), left behind by process ${orphan.owner.pid}`);
    await end(orphan, orphan.stopSignal, STOP_TIMEOUT_MS);
  }
  if (orphans.length > 0) writeRecords(dataDir, (records) => records);
  return orphans.map((orphan) => orphan.name);
}

/** Stops every child of this process, the latest first. */
export async function stopAllChildren(): Promise<void> {
  for (const { identity, spec } of [...live].reverse())
    await end(identity, spec.stopSignal ?? 'SIGTERM', spec.stopTimeoutMs ?? STOP_TIMEOUT_MS);
}

function stopAllNow(): void {
  const all = [...live];
  for (const { identity, spec } of all) {
    signalProcess(identity, spec.stopSignal ?? 'SIGTERM');
    signalTree(identity.pid, 'SIGCONT');
  }
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const deadline = Date.now() + EXIT_GRACE_MS;
  while (Date.now() < deadline && all.some(({ identity }) => isSameProcess(identity)))
    Atomics.wait(pause, 0, 0, POLL_MS);
  for (const { identity } of all) if (isSameProcess(identity)) signalTree(identity.pid, 'SIGKILL');
}

let guarded = false;

function guardThisProcess(): void {
  if (guarded) return;
  guarded = true;
  process.on('exit', stopAllNow);
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.on(signal, () => {
      // Where another listener exists, it drains first and ends the process
      // itself; the exit handler then does our part.
      if (process.listenerCount(signal) === 1) void stopAllChildren().finally(() => process.exit(status));
    });
  }
}

/**
 * Starts a child that ends with this process: on exit, on SIGINT, SIGTERM and SIGHUP, and after a SIGKILL at
 * the next start over its data folder. It gets a session of its own, so Ctrl-C in a terminal reaches only us,
 * and we choose the order in which things end. Throws a sentence when the program cannot be run.
 */
export async function startChild(spec: ChildSpec): Promise<Child> {
  guardThisProcess();
  const output = openChildOutput(spec.logFile);
  const child = spawn(spec.command, spec.args, {
    detached: true,
    stdio: ['ignore', output.handle, output.handle],
    ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
    ...(spec.env === undefined ? {} : { env: spec.env }),
    ...(spec.user ?? {}),
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => {
      output.close();
      reject(
        new Error(
          `${spec.name} cannot be started from ${spec.command} (${error.message}): check that the file is there and may be run`,
        ),
      );
    });
  });
  const pid = child.pid ?? 0;
  const identity = identify(pid) ?? { pid, startedAt: 'ended at once' };
  const entry: LiveChild = { identity, spec, output };
  live.add(entry);
  record(spec, identity);
  child.unref(); // a forgotten child must not keep us alive: the exit handler stops it
  child.once('exit', () => forget(entry));
  const stopSignal = spec.stopSignal ?? 'SIGTERM';
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const afterEnd = () => {
    if (child.exitCode !== null || child.signalCode !== null) return undefined;
    child.ref(); // a caller that waits for the end must not be left with an empty event loop
    return exited;
  };
  return {
    pid,
    running: () => child.exitCode === null && child.signalCode === null,
    status: () => child.signalCode ?? child.exitCode,
    output: output.tail,
    stop: () => end(identity, stopSignal, spec.stopTimeoutMs ?? STOP_TIMEOUT_MS).then(afterEnd),
    kill: () => killTree(pid).then(afterEnd),
    pause: () => signalTree(pid, 'SIGSTOP'),
    resume: () => signalTree(pid, 'SIGCONT'),
  };
}

function record(spec: ChildSpec, identity: ProcessIdentity): void {
  const owner = identify(process.pid);
  if (spec.dataDir === undefined || !owner) return;
  writeRecords(spec.dataDir, (records) => [
    ...records,
    { ...identity, name: spec.name, stopSignal: spec.stopSignal ?? 'SIGTERM', owner },
  ]);
}

function forget(entry: LiveChild): void {
  const known = live.delete(entry);
  entry.output.close();
  if (!known || entry.spec.dataDir === undefined) return;
  writeRecords(entry.spec.dataDir, (records) => records.filter((other) => other.pid !== entry.identity.pid));
}

/**
 * Polls until `ready` answers true. Throws a sentence with the child's last
 * output when the child ends or the time is up; the child is then stopped.
 */
export async function waitUntilReady(
  child: Child,
  input: { name: string; timeoutMs: number; ready: () => Promise<boolean> | boolean },
): Promise<void> {
  const deadline = Date.now() + input.timeoutMs;
  let problem: string | undefined;
  while (problem === undefined) {
    if (await input.ready()) return;
    if (!child.running()) problem = `${input.name} ended with ${child.status()} while starting`;
    else if (Date.now() > deadline)
      problem = `${input.name} did not answer within ${input.timeoutMs / 1000} s`;
    else await pause(POLL_MS);
  }
  const words = child.output();
  await child.stop();
  throw new Error(`${problem}. Its last words: ${words || '(none)'}`);
}
