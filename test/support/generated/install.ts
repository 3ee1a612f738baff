import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../../dev/support/eventually.ts';
import { tryLock } from '../../../src/base/data-dir.ts';
import { cacheFolder } from '../../../src/embedded/temporal-cli.ts';

const FILES = ['package.json', 'package-lock.json'].map((name) => join(import.meta.dirname, name));
const LIMIT_MS = 5 * 60_000;

/**
 * The folder `node_modules` with the pinned generators, in the user's cache: npm fetches them at the first
 * call, so that nobody who runs the gateway gets them. Throws a sentence where that does not work.
 */
export async function findGenerators(env: NodeJS.ProcessEnv): Promise<string> {
  const hash = createHash('sha256');
  for (const file of FILES) hash.update(readFileSync(file));
  const name = `generators-${hash.digest('hex').slice(0, 12)}`;
  const target = join(dirname(cacheFolder(env)), name);
  mkdirSync(dirname(target), { recursive: true });
  const lock = await eventually('the install by another run', () => tryLock(`${target}.lock`), LIMIT_MS);
  try {
    if (!existsSync(target)) await install(target, env);
    return join(target, 'node_modules');
  } finally {
    lock.release();
  }
}

async function install(target: string, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = mkdtempSync(`${target}.new-`);
  try {
    for (const file of FILES) cpSync(file, join(folder, file.slice(import.meta.dirname.length)));
    await runIn(folder, 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], env);
    renameSync(folder, target);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** What a program printed, while this process goes on. Rejects with it where the program fails. */
export async function runIn(
  cwd: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const options = { cwd, env, timeout: LIMIT_MS, maxBuffer: 16 * 1024 ** 2 };
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    const { message, stdout = '' } = error as Error & { stdout?: string };
    throw new Error(`${message}\n${stdout}`.slice(-4_000), { cause: error });
  }
}
