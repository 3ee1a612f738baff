import { spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { onPath } from './packages.ts';
import type { Log } from './processes.ts';

/** Where the vendor keeps its builds. */
export const DOWNLOAD_URL = 'https://temporal.download/cli/archive';
const ANSWER_TIMEOUT_MS = 5_000;
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;
const BUILD_TIMEOUT_MS = 15 * 60_000;
const PROGRESS_MS = 5_000;
const PLATFORMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const GO_PLACES = ['/usr/local/go/bin/go', '/usr/lib/go/bin/go', '/opt/homebrew/bin/go'];

/** Runs a long command with a line of progress every few seconds. Throws with the end of its output when it fails. */
export function runLong(input: {
  what: string;
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  log: Log;
}): Promise<void> {
  const { what, command, args, env, log } = input;
  const began = Date.now();
  log(`${what} …`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'], timeout: BUILD_TIMEOUT_MS, killSignal: 'SIGKILL' });
    const stopWithUs = () => child.kill('SIGKILL');
    process.once('exit', stopWithUs);
    const ticker = setInterval(() => log(`${what} … ${Math.round((Date.now() - began) / 1000)} s`), PROGRESS_MS);
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-600);
    });
    const finish = (problem: string | undefined) => {
      clearInterval(ticker);
      process.removeListener('exit', stopWithUs);
      if (problem === undefined) resolve();
      else reject(new Error(`${command} ${args[0]} ${problem}`));
    };
    child.once('error', (error) => finish(error.message));
    child.once('close', (code, signal) =>
      finish(code === 0 ? undefined : `ended with ${signal ?? code}: ${output.trim().split('\n').slice(-3).join(' ')}`),
    );
  });
}

/** Fetches the vendor's archive into `folder`. Gives up within seconds where there is no internet. Returns the program's path. */
export async function download(input: { folder: string; version: string; log: Log; baseUrl: string }): Promise<string> {
  const { folder, version, log, baseUrl } = input;
  const platform = PLATFORMS[process.platform];
  const arch = ARCHITECTURES[process.arch];
  if (!platform || !arch) throw new Error(`there is none for ${process.platform} ${process.arch}`);
  const url = `${baseUrl}/v${version}?platform=${platform}&arch=${arch}`;
  log(`downloading the Temporal CLI ${version} from ${url}`);
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(new Error(`no answer within ${ANSWER_TIMEOUT_MS / 1000} s`)), ANSWER_TIMEOUT_MS);
  try {
    const response = await fetch(url, { signal: abort.signal }).catch((error: Error & { cause?: Error }) => {
      throw new Error(error.cause?.message ?? error.message);
    });
    clearTimeout(timer);
    if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`);
    timer = setTimeout(() => abort.abort(new Error(`not done within ${DOWNLOAD_TIMEOUT_MS / 1000} s`)), DOWNLOAD_TIMEOUT_MS);
    const archive = join(folder, 'temporal.tar.gz');
    await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(archive));
    await runLong({ what: 'unpacking the Temporal CLI', command: 'tar', args: ['-xzf', archive, '-C', folder], env: process.env, log });
  } finally {
    clearTimeout(timer);
  }
  return join(folder, 'temporal');
}

/** A Go toolchain: on PATH, in its usual places, else Debian's package where we may install it. Throws a sentence. */
export async function findGo(env: NodeJS.ProcessEnv, log: Log): Promise<string> {
  const known = onPath('go', env) ?? GO_PLACES.find(existsSync);
  if (known) return known;
  const apt = onPath('apt-get', env);
  if (!apt || process.getuid?.() !== 0) throw new Error('Go is not installed');
  const quiet = { ...env, DEBIAN_FRONTEND: 'noninteractive' };
  await runLong({ what: "reading Debian's package lists", command: apt, args: ['update', '-q'], env: quiet, log });
  await runLong({
    what: "installing Debian's Go",
    command: apt,
    args: ['install', '-y', '-q', '--no-install-recommends', 'golang-go', 'ca-certificates'],
    env: quiet,
    log,
  });
  const installed = onPath('go', env) ?? GO_PLACES.find(existsSync);
  if (!installed) throw new Error('Go was installed and cannot be found');
  return installed;
}

/** Builds the CLI with Go into `folder`; where Go is missing and we are root on Debian, installs Go first. Returns the program's path. */
export async function goInstall(input: { folder: string; version: string; log: Log; env: NodeJS.ProcessEnv }): Promise<string> {
  const { folder, version, log, env } = input;
  const go = await findGo(env, log);
  await runLong({
    what: `building the Temporal CLI ${version} with Go: 3 to 5 minutes, once`,
    command: go,
    args: ['install', `github.com/temporalio/cli/cmd/temporal@v${version}`],
    // Debian's Go may be older than the CLI wants; `auto` lets it fetch the toolchain it needs.
    env: { ...env, GOBIN: folder, CGO_ENABLED: '0', GOTOOLCHAIN: env['GOTOOLCHAIN'] || 'auto', GOFLAGS: '-mod=mod' },
    log,
  });
  return join(folder, 'temporal');
}
