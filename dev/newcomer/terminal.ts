import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** A Node that a newcomer may have. */
export type NodeChoice = { readonly version: string; readonly path: string; readonly command: string };

/**
 * The Node of the machine itself, and the one that this project brings along; one entry where they are the
 * same version. `path` is what a person's shell has: without the folders that npm puts before it.
 */
export function nodesOfNewcomers(): NodeChoice[] {
  const own = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  const machine = own.find((folder) => existsSync(join(folder, 'node')));
  const brought = dirname(process.execPath);
  const folders = [...(machine === undefined ? [] : [machine]), brought];
  const choices = folders.map((folder) => ({
    command: join(folder, 'node'),
    path: [folder, ...own].join(delimiter),
  }));
  return choices
    .map((choice) => ({ ...choice, version: versionOf(choice.command) }))
    .filter(({ version }, index, all) => all.findIndex((other) => other.version === version) === index);
}

function versionOf(command: string): string {
  return (spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout ?? '').trim();
}

/** What a newcomer left running in another terminal. */
export type Terminal = {
  output(): string;
  /** Waits until the output has something that fits, and returns it. */
  until(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  /** Ctrl-C; returns when everything in it has ended. */
  stop(): Promise<void>;
};

const WITHIN_MS = 60_000;
const POLL_MS = 25;

/**
 * Runs a block that does not end by itself, as in a terminal of its own; `typed` is what the person types.
 */
export function openTerminal(
  text: string,
  { env, folder, typed = '' }: { env: NodeJS.ProcessEnv; folder: string; typed?: string },
): Terminal {
  const child: ChildProcess = spawn('sh', ['-ec', text], { cwd: folder, env, stdio: 'pipe', detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += String(chunk);
    });
  child.stdin?.end(typed);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    output: () => output,
    until: async (pattern, withinMs = WITHIN_MS) => {
      const last = Date.now() + withinMs;
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        if (child.exitCode !== null || Date.now() > last)
          throw new Error(`${text}\ndid not print ${pattern}, but:\n${output.slice(-4_000)}`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    stop: async () => {
      // As a terminal does it: the whole group gets the signal.
      const runs = child.exitCode === null && child.signalCode === null;
      if (runs && child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
      await ended;
    },
  };
}
