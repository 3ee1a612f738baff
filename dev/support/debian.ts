import { spawnSync } from 'node:child_process';
import { onPath } from '../../src/embedded/packages.ts';

/** Programs that tests run and that no npm package contains, by their Debian package. */
const PROGRAMS = [
  { command: 'python3', package: 'python3' },
  { command: 'php', package: 'php-cli' },
  { command: 'chromium', package: 'chromium' },
  { command: 'caddy', package: 'caddy' },
  { command: 'psql', package: 'postgresql-client' },
] as const;

const LIMIT_MS = 15 * 60_000;

/**
 * Installs what is missing where we may: as root on a machine with apt-get. Elsewhere, and where it fails,
 * it says so and goes on: the tests that need a missing program fail with a sentence that names its package.
 */
export function installPrograms(log: (line: string) => void, env: NodeJS.ProcessEnv): void {
  const missing = PROGRAMS.filter(({ command }) => onPath(command, env) === undefined).map(
    (program) => program.package,
  );
  if (missing.length === 0 || !mayInstall(env)) return;
  if (!installPackages(missing, log, env))
    log(`could not install ${missing.join(', ')}; the tests that need them will say so`);
}

/** Installs Debian packages. False where we may not (no root, no apt-get) and where it failed. */
export function installPackages(
  packages: readonly string[],
  log: (line: string) => void,
  env: NodeJS.ProcessEnv,
): boolean {
  if (!mayInstall(env)) return false;
  log(`installing ${packages.join(', ')}`);
  return (
    aptGet(['update', '-qq'], env) &&
    aptGet(['install', '-y', '-qq', '--no-install-recommends', ...packages], env)
  );
}

function mayInstall(env: NodeJS.ProcessEnv): boolean {
  return process.getuid?.() === 0 && onPath('apt-get', env) !== undefined;
}

function aptGet(args: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const { status } = spawnSync('apt-get', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: LIMIT_MS,
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return status === 0;
}
