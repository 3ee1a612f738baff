import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { Json } from './api.ts';

const ENTRY = join(import.meta.dirname, '../../src/bin.mjs');
/** A comparison of balances may look five times, with minutes between. */
const WITHIN_MS = 15 * 60_000;
const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;

/** `json` is empty where the command printed none, as where it was used wrongly. */
export type Operated = { readonly status: number; readonly json: Json; readonly said: string };

/** Runs one command as an operator would. Never throws: a refusal is an answer. */
export function operate(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Operated> {
  return new Promise((resolve) => {
    const options = { env, timeout: WITHIN_MS, maxBuffer: MAX_ANSWER_BYTES };
    execFile(process.execPath, [ENTRY, ...args, '--json'], options, (error, out, said) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      const text = out.trim();
      resolve({ status, json: text.startsWith('{') ? (JSON.parse(text) as Json) : {}, said });
    });
  });
}
