// One lane of a whole run: a process that runs the test files that it is sent, one after the other, over
// the servers that the first of them started. What it says to the parent is a `FromLane`.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import Mocha from 'mocha';
import { mochaGlobalTeardown, mochaHooks, unlimitedIn } from './hooks.ts';

/** A file to run, or the end of the run. */
export type ToLane = { readonly file: string } | { readonly end: true };

/** What one test file gave: how many cases passed, what each failed one says, and how long all took. */
export type FileResult = {
  readonly file: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failures: readonly { readonly title: string; readonly reason: string }[];
};

export type FromLane = { readonly ready: true } | FileResult;

const { timeout, slow } = JSON.parse(readFileSync('.mocharc.json', 'utf8')) as Mocha.MochaOptions;

async function runFile(file: string): Promise<FileResult> {
  const began = performance.now();
  const failures: { title: string; reason: string }[] = [];
  let passed = 0;
  const mocha = new Mocha({ timeout, slow, reporter: Mocha.reporters.Base, rootHooks: mochaHooks });
  mocha.addFile(file);
  await mocha.loadFilesAsync();
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    unlimitedIn(runner);
    runner.on('pass', () => {
      passed += 1;
    });
    runner.on('fail', (runnable: Mocha.Runnable, error: Error) => {
      failures.push({ title: runnable.titlePath().join(' › '), reason: reasonOf(error) });
    });
  });
  mocha.dispose();
  if (passed + failures.length === 0) failures.push({ title: file, reason: 'no test ran' });
  return { file, seconds: (performance.now() - began) / 1_000, passed, failures };
}

/** The message with what was compared, and the lines of the stack that lie in the repository. */
function reasonOf(error: Error & { readonly expected?: unknown; readonly actual?: unknown }): string {
  const compared =
    error.expected === undefined ? [] : Mocha.reporters.Base.generateDiff(...comparedOf(error)).split('\n');
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at .*\.ts:\d+/.test(line) && !line.includes('node_modules'))
    .map((line) => line.replace(/file:\/\/(\S+?)(:\d+:\d+)/, (_, path, at) => `${relative('.', path)}${at}`));
  return stripVTControlCharacters([error.message ?? String(error), ...compared, ...frames].join('\n'));
}

function comparedOf({ actual, expected }: { actual?: unknown; expected?: unknown }): [string, string] {
  const { stringify } = Mocha.utils as unknown as { stringify(value: unknown): string };
  return [stringify(actual), stringify(expected)];
}

function say(message: FromLane): void {
  process.send?.(message);
}

let isOver = false;
process.on('message', async (message: ToLane) => {
  if ('file' in message) {
    say(
      await runFile(message.file).catch((error: Error) => ({
        file: message.file,
        seconds: 0,
        passed: 0,
        failures: [{ title: `${message.file} cannot be loaded`, reason: error.stack ?? error.message }],
      })),
    );
    return;
  }
  isOver = true;
  await mochaGlobalTeardown();
  process.disconnect();
});
// The parent was killed: what this lane started must not outlive it.
process.once('disconnect', () => {
  if (!isOver) process.exit(1);
});
say({ ready: true });
