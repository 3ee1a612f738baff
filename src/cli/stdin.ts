import { Writable } from 'node:stream';
import { OperatorError } from '../base/errors.ts';

/** What to ask for on stdin: the word shown at a terminal, and what to say about a text over `maxBytes`. */
export type Asked = { readonly name: string; readonly maxBytes: number; readonly nextAction: string };

/**
 * A secret: from a terminal one line without echo, else everything
 * up to the end. Throws an OperatorError when it is too long.
 */
export async function readSecret(asked: Asked): Promise<string> {
  if (process.stdin.isTTY) return await readHiddenLine(asked.name);
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin) {
    const chunk = Buffer.from(part);
    bytes += chunk.length;
    if (bytes > asked.maxBytes)
      throw new OperatorError(`This is too long to be a ${asked.name}`, asked.nextAction);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function readHiddenLine(name: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  process.stderr.write(`${name.charAt(0).toUpperCase()}${name.slice(1)} (not shown): `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await reader.question('');
  } finally {
    reader.close();
    process.stderr.write('\n');
  }
}
