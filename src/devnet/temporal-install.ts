import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { findGo, goEnv } from './go.ts';
import { publishedPlatform } from './platform.ts';
import type { Log } from './processes.ts';
import { runLong } from './run-long.ts';

/** Where the vendor keeps its builds. */
export const DOWNLOAD_URL = 'https://temporal.download/cli/archive';
const ANSWER_TIMEOUT_MS = 5_000;
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;

/** Fetches the vendor's archive into `folder`. Gives up within seconds where there is no internet. Returns the program's path. */
export async function download(input: { folder: string; version: string; log: Log; baseUrl: string }): Promise<string> {
  const { folder, version, log, baseUrl } = input;
  const { system, processor } = publishedPlatform();
  const url = `${baseUrl}/v${version}?platform=${system}&arch=${processor}`;
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

/** Builds the CLI with Go into `folder`; Go itself is had as {@link findGo} says. Returns the program's path. */
export async function goInstall(input: { folder: string; version: string; log: Log; env: NodeJS.ProcessEnv }): Promise<string> {
  const { folder, version, log, env } = input;
  const go = await findGo({ env, log });
  await runLong({
    what: `building the Temporal CLI ${version} with Go: 3 to 5 minutes, once`,
    command: go,
    args: ['install', `github.com/temporalio/cli/cmd/temporal@v${version}`],
    env: goEnv(folder, env),
    log,
  });
  return join(folder, 'temporal');
}
