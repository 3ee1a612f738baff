import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installPackages } from '../../dev/support/debian.ts';
import { tryLock } from '../../src/base/data-dir.ts';
import { onPath } from '../../src/embedded/packages.ts';
import { cacheFolder } from '../../src/embedded/temporal-cli.ts';

/**
 * Pinned with all that it needs: another version has other checks,
 * and a figure is only worth something beside the same checks.
 */
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const VERSION = /^schemathesis==(\S+)$/m.exec(readFileSync(REQUIREMENTS, 'utf8'))?.[1] ?? '';
const LIMIT_MS = 10 * 60_000;

/**
 * The Schemathesis of this version in a virtual environment of the user's cache
 * folder, made at the first call. Python and its venv module come from Debian
 * where we may install them. Throws a sentence that names what is missing.
 */
export function findSchemathesis(log: (line: string) => void, env: NodeJS.ProcessEnv): string {
  const target = join(dirname(cacheFolder(env)), `schemathesis-${VERSION}`);
  const program = join(target, 'bin', 'schemathesis');
  if (versionOf(program, env) === VERSION) return program;
  const missing = [...(onPath('python3', env) ? [] : ['python3']), ...(hasVenv(env) ? [] : ['python3-venv'])];
  if (missing.length > 0 && !installPackages(missing, log, env))
    throw new Error(`${missing.join(' and ')} must be installed first: apt-get install ${missing.join(' ')}`);
  mkdirSync(dirname(target), { recursive: true });
  const lock = tryLock(`${target}.lock`);
  if (!lock) throw new Error(`another run is making ${target}: try again when it is done`);
  try {
    log(`installing Schemathesis ${VERSION} into ${target}`);
    rmSync(target, { recursive: true, force: true });
    // Made in its place: a virtual environment holds its own path.
    run('python3', ['-m', 'venv', target], env);
    run(
      join(target, 'bin', 'pip'),
      ['install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS],
      env,
    );
    if (versionOf(program, env) !== VERSION)
      throw new Error(`${program} does not run: delete ${target} and try again`);
    return program;
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

function versionOf(program: string, env: NodeJS.ProcessEnv): string | undefined {
  const { status, stdout } = spawnSync(program, ['--version'], { env, encoding: 'utf8', timeout: LIMIT_MS });
  return status === 0 ? /(\d+\.\d+\.\d+)/.exec(stdout)?.[1] : undefined;
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
