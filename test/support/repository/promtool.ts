import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onPath } from '../../../src/embedded/packages.ts';
import { cacheFolder } from '../../../src/embedded/temporal-cli.ts';

type Input = { readonly log: (line: string) => void; readonly env: NodeJS.ProcessEnv };

const LIMIT_MS = 5 * 60_000;
const ADVICE =
  'put "promtool" on PATH: it is in Debian\'s package "prometheus", and in the archive of every release on prometheus.io';

/**
 * Prometheus's own checker of rules: from PATH, from the user's cache folder, or out of Debian's
 * package, once. The package is opened and not installed, because installing it starts a server
 * on the port of our own figures. Throws a sentence that says what to do where it cannot be had.
 */
export async function findPromtool({ log, env }: Input): Promise<string> {
  const known = onPath('promtool', env);
  if (known) return known;
  const cached = join(cacheFolder(env), 'promtool');
  if (existsSync(cached)) return cached;
  const apt = onPath('apt-get', env);
  if (!apt || !onPath('dpkg-deb', env))
    throw new Error(`promtool is missing and there is no apt-get: ${ADVICE}`);
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  try {
    log('fetching promtool from the package prometheus');
    unpack(apt, folder, env);
    mkdirSync(cacheFolder(env), { recursive: true });
    const fresh = `${cached}.${process.pid}`;
    copyFileSync(join(folder, 'usr/bin/promtool'), fresh);
    chmodSync(fresh, 0o755);
    renameSync(fresh, cached);
    return cached;
  } catch (error) {
    throw new Error(
      `promtool is missing and could not be fetched (${error instanceof Error ? error.message : error}): ${ADVICE}`,
      {
        cause: error,
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function unpack(apt: string, folder: string, env: NodeJS.ProcessEnv): void {
  const run = (command: string, args: readonly string[]): void => {
    execFileSync(command, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'], timeout: LIMIT_MS });
  };
  // Only root may renew the lists; a machine that already has them needs no renewal.
  if (process.getuid?.() === 0) run(apt, ['update', '-qq']);
  run(apt, ['download', '-qq', 'prometheus']);
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  if (!file) throw new Error('apt-get downloaded no package');
  run('dpkg-deb', ['-x', file, folder]);
}
