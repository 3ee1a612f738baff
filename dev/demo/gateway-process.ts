import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../../src/base/processes.ts';
import type { Screen } from './screen.ts';

const ENTRY = join(import.meta.dirname, '../../src/bin.mjs');
const READY_WITHIN_MS = 15 * 60_000;
const POLL_MS = 100;

export type Ready = { readonly api: string; readonly temporal_ui: string };
export type GatewayProcess = { readonly child: Child; readonly ready: Ready };

/** Components whose log lines a newcomer wants to see while the servers start. */
const SHOWN = new Set(['postgres', 'temporal', 'data', 'config']);

/**
 * Runs `gateway start` as an operator would, and returns when it is ready. Throws
 * with its last output when it ends before.
 */
export async function startGatewayProcess(input: {
  env: NodeJS.ProcessEnv;
  dataDir: string;
  logFile: string;
  screen: Screen;
}): Promise<GatewayProcess> {
  const child = await startChild({
    name: 'gateway',
    command: process.execPath,
    args: [ENTRY, 'start', '--json'],
    env: input.env,
    dataDir: input.dataDir,
    logFile: input.logFile,
    stopTimeoutMs: 40_000,
  });
  const until = Date.now() + READY_WITHIN_MS;
  let read = 0;
  while (Date.now() < until) {
    const running = child.running();
    const text = existsSync(input.logFile) ? readFileSync(input.logFile, 'utf8') : '';
    const end = text.lastIndexOf('\n') + 1;
    for (const line of text.slice(read, end).split('\n')) {
      const record = parse(line);
      if (record?.['ready'] === true)
        return { child, ready: { api: String(record['api']), temporal_ui: String(record['temporal_ui']) } };
      if (record && SHOWN.has(String(record['component'])))
        input.screen.line(`  ${String(record['component'])}: ${String(record['msg'])}`);
    }
    read = Math.max(read, end);
    if (!running) throw new Error(`the gateway ended before it was ready:\n${text.slice(-2_000)}`);
    await sleep(POLL_MS);
  }
  await child.stop();
  throw new Error(
    `the gateway was not ready after ${READY_WITHIN_MS / 60_000} minutes; its log is ${input.logFile}`,
  );
}

/**
 * Runs one command of the operator's command line and returns its JSON
 * result; `input` is what it reads. Throws with its output on stderr.
 */
export async function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
): Promise<Record<string, unknown>> {
  return await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [ENTRY, ...args, '--json'], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A command that reads nothing may have ended before this is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      err += String(chunk);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      const answer = parse(out);
      if (code === 0 && answer) resolve(answer);
      else reject(new Error(`gateway ${args.join(' ')} failed: ${err.slice(-1_000)}`));
    });
  });
}

function parse(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
