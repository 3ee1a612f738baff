import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startedAt } from '../../../src/base/process-table.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A script that runs in a process of its own, so that it can be killed. */
export type Script = {
  readonly pid: number;
  line(): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<number | null>;
};

/** Runs an ES module given as text; `from ROOT/x.ts;` imports a file of this repository. */
export async function runScript(text: string): Promise<Script> {
  const code = text.replace(
    /from ROOT\/([^;]+);/g,
    (_, path: string) => `from ${JSON.stringify(join(ROOT, path))};`,
  );
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (status) => resolve(status)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    line: async () => (await lines.next()).value ?? '',
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

/** Waits until a process is gone. Throws after 10 s. */
export async function gone(...pids: number[]): Promise<void> {
  for (let tries = 0; pids.some((pid) => startedAt(pid) !== undefined); tries++) {
    if (tries > 500)
      throw new Error(`process ${pids.filter((pid) => startedAt(pid) !== undefined).join(', ')} still runs`);
    await sleep(20);
  }
}

/** The message that a promise fails with. Throws when it does not fail. */
export async function failureOf(promise: Promise<unknown>): Promise<string> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof Error)) throw new Error('it did not fail');
  return failure.message;
}
