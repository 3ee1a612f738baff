// Secrets that come by file: `NAME_FILE` holds the path of what `NAME` would be.
import { readFileSync, statSync } from 'node:fs';
import { sharedWarning } from '../base/shared-file.ts';
import type { Environment } from './variable.ts';
import type { VariableName } from './variables/index.ts';
import { VARIABLES } from './variables/index.ts';

const SUFFIX = '_FILE';
const MAX_BYTES = 64 * 1024;

/** The secret variable that this name gives by file, or undefined for any other name. */
export function secretOfFile(name: string): string | undefined {
  const base = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : '';
  return Object.hasOwn(VARIABLES, base) && VARIABLES[base as VariableName].secret ? base : undefined;
}

/** The variable that this name would give by file if it were a secret, or undefined for any other name. */
export function plainOfFile(name: string): string | undefined {
  const base = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : '';
  const isOurs = Object.hasOwn(VARIABLES, base) && !Object.hasOwn(VARIABLES, name);
  return isOurs && !secretOfFile(name) ? base : undefined;
}

/**
 * The environment with every secret that was given as a file, without the line end that editors put behind
 * the last line. Adds a sentence to `problems` for a file that cannot be read or is empty, for a secret that
 * is given both ways, and for a file of a variable that is no secret. Never quotes a file's content.
 */
export function withSecretFiles(env: Environment, problems: string[]): Environment {
  const values: Record<string, string | undefined> = { ...env };
  for (const [given, path] of Object.entries(env)) {
    const plain = plainOfFile(given);
    // Reading it would put a secret where nothing is kept secret; ignoring it silently
    // would run with another value than was given.
    if (path && plain)
      problems.push(`${given} gives nothing: only secrets come by file. Set ${plain} itself.`);
    const name = secretOfFile(given);
    if (name === undefined || !path) continue;
    if (env[name]) problems.push(`${name} and ${given} are both set: keep one of them.`);
    else values[name] = readSecret(given, path, problems);
  }
  return values;
}

/** A sentence for each file of a secret that others can read, in the words that the wallet's seed has. */
export function sharedFiles(env: Environment): string[] {
  return Object.entries(env).flatMap(([given, path]) =>
    path && secretOfFile(given) ? (sharedWarning(path, statSync(path)) ?? []) : [],
  );
}

function readSecret(name: string, path: string, problems: string[]): string | undefined {
  try {
    if (!statSync(path).isFile() || statSync(path).size > MAX_BYTES) throw new Error('not a small file');
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (text !== '') return text;
    problems.push(`${name} must name a file that is not empty.`);
  } catch {
    problems.push(`${name} must name a file of at most ${MAX_BYTES / 1024} KiB that this process can read.`);
  }
  return undefined;
}
