import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { makeProgram } from '../../src/cli/program.ts';
import { runProgram } from '../../src/cli/run.ts';
import { atTerminal } from '../../src/cli/terminal.ts';
import { processEnv } from '../support/process-env.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUN_LIMIT_MS = 120_000;
const PARALLEL = 3;

export type Env = Readonly<Record<string, string>>;
export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Nothing of the test's own environment leaks in that a command could see. */
function environment(env: Env): NodeJS.ProcessEnv {
  return { ...processEnv(), NODE_ENV: 'test', ...env };
}

/** Runs the command line, in this process where that can be; several may run side by side. */
export async function gateway(args: readonly string[], env: Env, input = ''): Promise<Ran> {
  return await (OF_ITS_OWN.test(args.join(' ')) ? gatewayProcess : called)(args, env, input);
}

/** Runs the command line in this process, without a terminal. */
export async function called(args: readonly string[], env: Env, input = ''): Promise<Ran> {
  const [stdout, stderr] = [screen(), screen()];
  const terminal = { env: environment(env), stdout, stderr, log: stderr };
  const code = await GIVEN.run(Readable.from([Buffer.from(input)]), () =>
    atTerminal(terminal, () => runProgram(makeProgram(), args)),
  );
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** What a process does once: it runs until a signal, or changes what all of Temporal's workers say. */
const OF_ITS_OWN = /^(start|replay|webhook (listen|forward))\b/;

// What a command reads on stdin it reads from the process: in the SDK it does so too, without our terminal.
const GIVEN = new AsyncLocalStorage<Readable>();
const { stdin: OWN_STDIN } = Object.getOwnPropertyDescriptors(process);
Object.defineProperty(process, 'stdin', {
  configurable: true,
  enumerable: true,
  get: () => GIVEN.getStore() ?? OWN_STDIN.get?.call(process),
});

function screen() {
  const parts: string[] = [];
  return { write: (text: string) => parts.push(text) > 0, text: () => parts.join('') };
}

/** Runs the real command line as a process of its own. */
export async function gatewayProcess(args: readonly string[], env: Env, input = ''): Promise<Ran> {
  const child = spawn(process.execPath, ['src/bin.mjs', ...args], {
    cwd: ROOT,
    env: environment(env),
    stdio: 'pipe',
  });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const limit = setTimeout(() => child.kill('SIGKILL'), RUN_LIMIT_MS);
  child.stdin.on('error', () => undefined).end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** The one JSON object of a command that must succeed. */
export async function answer<T = Record<string, unknown>>(
  args: readonly string[],
  env: Env,
  input = '',
): Promise<T> {
  const ran = await gateway([...args, '--json'], env, input);
  if (ran.code !== 0) throw new Error(`gateway ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}`);
  return oneObject<T>(ran.stdout);
}

/** Parses stdout that must hold exactly one JSON object on one line. */
export function oneObject<T = Record<string, unknown>>(stdout: string): T {
  if (!/^\{.*\}\n$/.test(stdout))
    throw new Error(`not one JSON object on one line: ${JSON.stringify(stdout)}`);
  return JSON.parse(stdout) as T;
}

export type Running = {
  readonly child: ChildProcess;
  /** The first line of stdout, parsed. */
  readonly ready: Record<string, unknown>;
  stderr(): string;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
};

/** Starts a command that goes on until it is told to stop, and waits for its first line. */
export async function running(args: readonly string[], env: Env, input = ''): Promise<Running> {
  const child = spawn(process.execPath, ['src/bin.mjs', ...args], {
    cwd: ROOT,
    env: environment(env),
    stdio: 'pipe',
  });
  child.stdin.on('error', () => undefined).end(input);
  const stderr = collect(child.stderr);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const line = await Promise.race([
    firstLine(child),
    closed.then(([code]) => Promise.reject(new Error(`ended with ${code}: ${stderr.text()}`))),
  ]);
  return {
    child,
    ready: JSON.parse(line) as Record<string, unknown>,
    stderr: stderr.text,
    stop: async () => {
      child.kill('SIGTERM');
      return (await closed)[0];
    },
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
  });
}

function collect(stream: NodeJS.ReadableStream): { text(): string } {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { text: () => Buffer.concat(chunks).toString('utf8') };
}

/** Runs several commands side by side, as many as pay off on a small machine. */
export async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const turn = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: PARALLEL }, turn));
}

/** Every command that does something, with the words that call it. */
export function leavesOf(
  command: Command,
  path: readonly string[] = [],
): { readonly path: string; readonly command: Command }[] {
  if (command.commands.length === 0) return [{ path: path.join(' '), command }];
  return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
}
