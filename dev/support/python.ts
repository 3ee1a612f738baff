import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tryLock } from '../../src/base/data-dir.ts';
import { onPath } from '../../src/embedded/packages.ts';
import { cacheFolder } from '../../src/embedded/temporal-cli.ts';
import { installPackages } from './debian.ts';

const LIMIT_MS = 10 * 60_000;
const WAIT_MS = 5 * 60_000;
const LOOK_EVERY_MS = 500;

export type PythonTool = {
  /** The name of its folder in the user's cache, with its version. */
  readonly name: string;
  /** What pip is told to install; every version is pinned. */
  readonly install: readonly string[];
  /** Where its program is, given the folder; undefined while it is not there. */
  readonly find: (folder: string) => string | undefined;
};

/**
 * A program that comes with a package of Python's, in a virtual environment of the user's cache folder, made
 * at the first call. Python and its venv module come from Debian where we may install them. Throws a sentence
 * that names what is missing.
 */
export function findPythonTool(
  { name, install, find }: PythonTool,
  log: (line: string) => void,
  env: NodeJS.ProcessEnv,
): string {
  const target = join(dirname(cacheFolder(env)), name);
  const there = find(target);
  if (there !== undefined) return there;
  const missing = [...(onPath('python3', env) ? [] : ['python3']), ...(hasVenv(env) ? [] : ['python3-venv'])];
  if (missing.length > 0 && !installPackages(missing, log, env))
    throw new Error(`${missing.join(' and ')} must be installed first: apt-get install ${missing.join(' ')}`);
  mkdirSync(dirname(target), { recursive: true });
  const lock = lockOf(target);
  try {
    const meanwhile = find(target);
    if (meanwhile !== undefined) return meanwhile;
    log(`installing ${name} into ${target}`);
    rmSync(target, { recursive: true, force: true });
    // Made in its place: a virtual environment holds its own path.
    run('python3', ['-m', 'venv', target], env);
    run(join(target, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...install], env);
    const program = find(target);
    if (program === undefined) throw new Error(`${name} does not run: delete ${target} and try again`);
    return program;
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

/** A program that PyPI has, with a file that pins it and all that it needs. */
export type PythonProgram = {
  /** The package, which is also what its program is called. */
  readonly name: string;
  /** Path of the pinned requirements; the package's own line names the version. */
  readonly requirements: string;
};

/** The program of this version, as {@link findPythonTool} makes it. Throws as that does. */
export function findPythonProgram(
  { name, requirements }: PythonProgram,
  log: (line: string) => void,
  env: NodeJS.ProcessEnv,
): string {
  const pinned = readFileSync(requirements, 'utf8').split('\n');
  const version = pinned.find((line) => line.startsWith(`${name}==`))?.slice(name.length + 2) ?? '';
  const find = (folder: string): string | undefined => {
    const program = join(folder, 'bin', name);
    return versionOf(program, env) === version ? program : undefined;
  };
  return findPythonTool({ name: `${name}-${version}`, install: ['-r', requirements], find }, log, env);
}

function versionOf(program: string, env: NodeJS.ProcessEnv): string | undefined {
  const { status, stdout } = spawnSync(program, ['--version'], { env, encoding: 'utf8', timeout: LIMIT_MS });
  return status === 0 ? /(\d+\.\d+\.\d+)/.exec(stdout)?.[1] : undefined;
}

const pauseSync = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Tests of several processes want the same tool at the same moment: one makes it, and the others wait. */
function lockOf(target: string): { release(): void } {
  for (const until = Date.now() + WAIT_MS; ; pauseSync(LOOK_EVERY_MS)) {
    const lock = tryLock(`${target}.lock`);
    if (lock) return lock;
    if (Date.now() > until) throw new Error(`another run is making ${target}: try again when it is done`);
  }
}

/** Debian ships the module without the part that puts pip into an environment. */
function hasVenv(env: NodeJS.ProcessEnv): boolean {
  return (
    spawnSync('python3', ['-c', 'import venv, ensurepip'], { env, stdio: 'ignore', timeout: LIMIT_MS })
      .status === 0
  );
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status, error, stderr } = spawnSync(command, args, { env, encoding: 'utf8', timeout: LIMIT_MS });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${(error?.message ?? stderr).slice(-1_000)}`);
}
