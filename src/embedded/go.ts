import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Print } from '../base/processes.ts';
import { onPath } from './packages.ts';
import { publishedPlatform } from './platform.ts';
import { runLong } from './run-long.ts';

const GO_PLACES = ['/usr/local/go/bin/go', '/usr/lib/go/bin/go', '/opt/homebrew/bin/go'];
/** Go fetches a newer toolchain by itself from this minor version on. Debian 12 has 1.19. */
const FETCHES_TOOLCHAINS_SINCE = 21;
/** The toolchain that replaces an older Go: enough for everything that is built here. */
const TOOLCHAIN_VERSION = '1.26.4';
const ASK_TIMEOUT_MS = 20_000;
const run = promisify(execFile);

type Input = { readonly env: NodeJS.ProcessEnv; readonly log: Print };

/**
 * The environment in which Go builds a program into `folder`, with any
 * newer toolchain that the program asks for.
 */
export function goEnv(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...env,
    GOBIN: folder,
    CGO_ENABLED: '0',
    GOTOOLCHAIN: env['GOTOOLCHAIN'] || 'auto',
    GOFLAGS: '-mod=mod',
  };
}

/**
 * A Go that can build today's programs: the one on PATH or in its usual places, else
 * Debian's package where we may install it. A Go that is too old to fetch newer toolchains
 * by itself is only used to fetch one. Throws a sentence.
 */
export async function findGo({ env, log }: Input): Promise<string> {
  const go = knownGo(env) ?? (await installGo({ env, log }));
  return (await fetchesToolchains(go, env)) ? go : await fetchToolchain(go, { env, log });
}

function knownGo(env: NodeJS.ProcessEnv): string | undefined {
  return onPath('go', env) ?? GO_PLACES.find(existsSync);
}

async function installGo({ env, log }: Input): Promise<string> {
  const apt = onPath('apt-get', env);
  if (!apt || process.getuid?.() !== 0) throw new Error('Go is not installed');
  const quiet = { ...env, DEBIAN_FRONTEND: 'noninteractive' };
  const packages = ['golang-go', 'ca-certificates'];
  await runLong({
    what: "reading Debian's package lists",
    command: apt,
    args: ['update', '-q'],
    env: quiet,
    log,
  });
  const args = ['install', '-y', '-q', '--no-install-recommends', ...packages];
  await runLong({ what: "installing Debian's Go", command: apt, args, env: quiet, log });
  const installed = knownGo(env);
  if (!installed) throw new Error('Go was installed and cannot be found');
  return installed;
}

async function fetchesToolchains(go: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { stdout } = await run(go, ['version'], {
    env: { ...env, GOTOOLCHAIN: 'local' },
    timeout: ASK_TIMEOUT_MS,
  });
  const minor = /\bgo1\.(\d+)/.exec(stdout)?.[1];
  // A Go with another version text was built by somebody on purpose: it is tried as it is.
  return minor === undefined || Number.parseInt(minor, 10) >= FETCHES_TOOLCHAINS_SINCE;
}

/**
 * Toolchains are modules, so an old Go can fetch one too, and checks it against
 * the public checksums like every module.
 */
async function fetchToolchain(go: string, { env, log }: Input): Promise<string> {
  const { system, processor } = publishedPlatform();
  const module = `golang.org/toolchain@v0.0.1-go${TOOLCHAIN_VERSION}.${system}-${processor}`;
  const plain = { ...env, GOFLAGS: '' };
  const what = `fetching Go ${TOOLCHAIN_VERSION}, because ${go} is too old`;
  await runLong({ what, command: go, args: ['mod', 'download', module], env: plain, log });
  const { stdout } = await run(go, ['env', 'GOMODCACHE'], { env: plain, timeout: ASK_TIMEOUT_MS });
  const folder = join(stdout.trim(), module);
  // An old Go unpacks modules without the right to execute their programs.
  for (const programs of [join(folder, 'bin'), join(folder, 'pkg/tool', `${system}_${processor}`)])
    makeExecutable(programs);
  return join(folder, 'bin/go');
}

function makeExecutable(folder: string): void {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o755);
}
