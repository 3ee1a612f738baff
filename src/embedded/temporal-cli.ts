import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pause } from '../base/async/pause.ts';
import { tryLock } from '../base/data-dir.ts';
import type { Print } from '../base/processes.ts';
import { onPath } from './packages.ts';
import { ARCHIVE_SHA256, DOWNLOAD_URL, type Download, download, goInstall } from './temporal-install.ts';

/**
 * The newest release that `go install` accepts: from 1.6.0 on
 * its go.mod holds a `replace`, which that command refuses.
 */
const TEMPORAL_CLI_VERSION = '1.5.1';

const VERSION_TIMEOUT_MS = 20_000;
const LOCK_WAIT_MS = 20 * 60_000;

export type FindTemporalInput = {
  readonly log: Print;
  readonly env: NodeJS.ProcessEnv;
  /**
   * Another archive than the vendor's, with the SHA-256 of its file for each platform, and how long its
   * server has for an answer.
   */
  readonly vendor?: Pick<Download, 'baseUrl' | 'sha256' | 'answersWithinMs'>;
};

/** What `temporal --version` says, or undefined when this file is not a Temporal CLI that runs here. */
function versionOf(file: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      file,
      ['--version'],
      { timeout: VERSION_TIMEOUT_MS, env: { ...process.env, NO_COLOR: '1' } },
      (error, stdout) => {
        resolve(!error && /temporal version/i.test(stdout) ? stdout.trim() : undefined);
      },
    );
  });
}

/** The user's folder of programs that were fetched or built once. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'deposit-gateway', 'bin');
}

type Way = { readonly name: string; readonly run: (folder: string) => Promise<string> };

async function install(target: string, input: FindTemporalInput, ways: readonly Way[]): Promise<string> {
  const folder = mkdtempSync(`${target}.new-`);
  const problems: string[] = [];
  try {
    for (const way of ways) {
      try {
        const file = await way.run(folder);
        if ((await versionOf(file)) === undefined) throw new Error('the file does not run here');
        renameSync(file, target);
        return target;
      } catch (error) {
        problems.push(`${way.name}: ${(error as Error).message}`);
        input.log(`Temporal CLI, ${way.name} did not work: ${(error as Error).message}`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  throw new Error(
    `no Temporal CLI could be had (${problems.join('; ')}): install one from https://docs.temporal.io/cli and set TEMPORAL_CLI to its path, or set TEMPORAL_ADDRESS to a running server`,
  );
}

async function lockAndInstall(target: string, input: FindTemporalInput): Promise<string> {
  const { log, env } = input;
  const began = Date.now();
  let lock = tryLock(`${target}.lock`);
  for (let seconds = 0; !lock; seconds++) {
    if (Date.now() - began > LOCK_WAIT_MS)
      throw new Error(
        `another start holds ${target}.lock for ${LOCK_WAIT_MS / 60_000} minutes: stop it, or set TEMPORAL_CLI to a Temporal CLI`,
      );
    if (seconds % 5 === 0) log(`another start is fetching the Temporal CLI, waiting (${seconds} s)`);
    await pause(1000);
    lock = tryLock(`${target}.lock`);
  }
  try {
    if (await versionOf(target)) return target;
    return await install(target, input, [
      {
        name: 'download',
        run: (folder) => {
          const vendor = input.vendor ?? { baseUrl: DOWNLOAD_URL, sha256: ARCHIVE_SHA256 };
          return download({ folder, version: TEMPORAL_CLI_VERSION, log, ...vendor });
        },
      },
      { name: 'go install', run: (folder) => goInstall({ folder, version: TEMPORAL_CLI_VERSION, log, env }) },
    ]);
  } finally {
    lock.release();
  }
}

/**
 * The path of a Temporal CLI that runs: TEMPORAL_CLI, else `temporal` on PATH, else
 * the one in the user's cache folder, else the vendor's download, else built by Go
 * (a few minutes, once for this user). Throws a sentence that names TEMPORAL_CLI.
 */
export async function findTemporalCli(input: FindTemporalInput): Promise<string> {
  const { env } = input;
  const named = env['TEMPORAL_CLI'];
  if (named) {
    if (await versionOf(named)) return named;
    throw new Error(
      `TEMPORAL_CLI is ${named}, which is not a Temporal CLI that runs here: correct the path or unset it`,
    );
  }
  const known = onPath('temporal', env);
  if (known && (await versionOf(known))) return known;
  const folder = cacheFolder(env);
  const cached = join(folder, `temporal-${TEMPORAL_CLI_VERSION}`);
  if (await versionOf(cached)) return cached;
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new Error(
      `the cache folder ${folder} cannot be made (${(error as Error).message}): set XDG_CACHE_HOME to a folder of yours, or TEMPORAL_CLI to a Temporal CLI`,
    );
  }
  return lockAndInstall(cached, input);
}
