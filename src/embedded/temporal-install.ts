import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Print } from '../base/processes.ts';
import { findGo, goEnv } from './go.ts';
import { publishedPlatform } from './platform.ts';
import { runLong } from './run-long.ts';

/** Where the vendor keeps its builds. */
export const DOWNLOAD_URL = 'https://temporal.download/cli/archive';
/**
 * SHA-256 of the vendor's archives of the version that is used, by platform; a new version needs new ones.
 */
export const ARCHIVE_SHA256: Readonly<Record<string, string>> = {
  'linux amd64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  'linux arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  'darwin amd64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  'darwin arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
};
const RESPONSE_TIMEOUT_MS = 5_000;
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;

export type Download = {
  folder: string;
  version: string;
  log: Print;
  baseUrl: string;
  sha256: Readonly<Record<string, string>>;
  /** Unset means five seconds. */
  answersWithinMs?: number;
};

/**
 * Fetches the vendor's archive into `folder` and unpacks it if its SHA-256 is the one known for this
 * platform; throws otherwise. Gives up within seconds where there is no internet. Returns the program's path.
 */
export async function download(asked: Download): Promise<string> {
  const { folder, version, log, baseUrl, sha256, answersWithinMs = RESPONSE_TIMEOUT_MS } = asked;
  const { system, processor } = publishedPlatform();
  const expected = sha256[`${system} ${processor}`];
  if (expected === undefined)
    throw new Error(`no SHA-256 is known of the archive for ${system} ${processor}`);
  const url = `${baseUrl}/v${version}?platform=${system}&arch=${processor}`;
  log(`downloading the Temporal CLI ${version} from ${url}`);
  const abort = new AbortController();
  let timer = setTimeout(
    () => abort.abort(new Error(`no answer within ${answersWithinMs / 1000} s`)),
    answersWithinMs,
  );
  try {
    const response = await fetch(url, { signal: abort.signal }).catch((error: Error & { cause?: Error }) => {
      throw new Error(error.cause?.message ?? error.message);
    });
    clearTimeout(timer);
    if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`);
    timer = setTimeout(
      () => abort.abort(new Error(`not done within ${DOWNLOAD_TIMEOUT_MS / 1000} s`)),
      DOWNLOAD_TIMEOUT_MS,
    );
    const archive = join(folder, 'temporal.tar.gz');
    await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(archive));
    const hash = createHash('sha256');
    await pipeline(createReadStream(archive), hash);
    const found = hash.digest('hex');
    if (found !== expected)
      throw new Error(
        `the archive is not the one that was published: its SHA-256 is ${found}, not ${expected}`,
      );
    await runLong({
      what: 'unpacking the Temporal CLI',
      command: 'tar',
      args: ['-xzf', archive, '-C', folder],
      env: process.env,
      log,
    });
  } finally {
    clearTimeout(timer);
  }
  return join(folder, 'temporal');
}

/**
 * Builds the CLI with Go into `folder`; {@link findGo} says how Go itself
 * is found. Returns the program's path.
 */
export async function goInstall(input: {
  folder: string;
  version: string;
  log: Print;
  env: NodeJS.ProcessEnv;
}): Promise<string> {
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
