import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const OUTPUT_LIMIT = 4_000;
const LOG_FILE_LIMIT = 10 * 1024 * 1024;

/** The file that takes what a child prints, and the end of it, which outlives `close`. */
export type ChildOutput = { readonly handle: number; tail(): string; close(): void };

/**
 * The output goes to a file, never to a pipe: a pipe blocks the child when we
 * are busy, and breaks it when we are killed.
 */
export function openChildOutput(logFile: string | undefined): ChildOutput {
  const file = logFile ?? join(tmpdir(), `gateway-child-${randomUUID()}`);
  if (existsSync(file) && statSync(file).size > LOG_FILE_LIMIT) renameSync(file, `${file}.1`);
  const handle = openSync(file, 'a+', 0o600);
  if (logFile === undefined) rmSync(file); // nameless from here on, so nothing is left of it
  const began = fstatSync(handle).size;
  let words: string | undefined;
  const tail = () => {
    if (words !== undefined) return words;
    const { size } = fstatSync(handle);
    const from = Math.max(began, size - OUTPUT_LIMIT);
    const bytes = Buffer.alloc(Math.max(0, size - from));
    return bytes.toString('utf8', 0, readSync(handle, bytes, 0, bytes.length, from)).trim();
  };
  const close = () => {
    if (words !== undefined) return;
    words = tail();
    closeSync(handle);
  };
  return { handle, tail, close };
}
