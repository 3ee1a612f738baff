import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { tryLock } from '../src/base/data-dir.ts';
import type { Print } from '../src/base/processes.ts';
import { findGo, goEnv } from '../src/embedded/go.ts';
import { runLong } from '../src/embedded/run-long.ts';
import { cacheFolder } from '../src/embedded/temporal-cli.ts';

/** The release that the production composition names. */
const VERSION = '1.31.2';
const MODULE = 'go.temporal.io/server';

const LOCK_WAIT_MS = 20 * 60_000;
const ASK_TIMEOUT_MS = 20_000;
const run = promisify(execFile);

/**
 * The programs of a production Temporal server, and the folder
 * with the versioned schemas `temporal` and `visibility`.
 */
export type TemporalServerPrograms = {
  readonly server: string;
  readonly sqlTool: string;
  readonly schemas: string;
};

type Input = { readonly log: Print; readonly env: NodeJS.ProcessEnv };

function programsIn(folder: string): TemporalServerPrograms {
  return { server: join(folder, 'server'), sqlTool: join(folder, 'sql'), schemas: join(folder, 'schema') };
}

/**
 * Copies files without the read-only modes of Go's module cache, which would
 * prevent the copy from ever being removed.
 */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target);
    else copyFileSync(source, target);
  }
}

async function build(folder: string, { log, env }: Input): Promise<void> {
  const go = await findGo({ env, log });
  const building = goEnv(folder, env);
  await runLong({
    what: `building the Temporal server ${VERSION} with Go: 4 to 10 minutes, once`,
    command: go,
    args: ['install', `${MODULE}/cmd/server@v${VERSION}`, `${MODULE}/cmd/tools/sql@v${VERSION}`],
    env: building,
    log,
  });
  const { stdout } = await run(go, ['env', 'GOMODCACHE'], { env: building, timeout: ASK_TIMEOUT_MS });
  for (const name of ['temporal', 'visibility']) {
    const source = join(stdout.trim(), `${MODULE}@v${VERSION}`, 'schema/postgresql/v12', name, 'versioned');
    if (!existsSync(source))
      throw new Error(
        `the schemas of the Temporal server are not in ${source}: clear Go's module cache and try again`,
      );
    copyTree(source, join(folder, 'schema', name));
  }
}

async function lockAndBuild(target: string, input: Input): Promise<void> {
  let lock = tryLock(`${target}.lock`);
  for (const began = Date.now(); !lock; lock = tryLock(`${target}.lock`)) {
    if (Date.now() - began > LOCK_WAIT_MS)
      throw new Error(`another start holds ${target}.lock for ${LOCK_WAIT_MS / 60_000} minutes: stop it`);
    input.log('another start is building the Temporal server, waiting');
    await sleep(5_000);
  }
  const folder = mkdtempSync(`${target}.new-`);
  try {
    if (existsSync(target)) return;
    await build(folder, input);
    await run(join(folder, 'server'), ['--version'], { timeout: ASK_TIMEOUT_MS });
    renameSync(folder, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    lock.release();
  }
}

/**
 * The programs of the production server from the user's cache folder; where they are missing, Go builds them,
 * which takes minutes, once for this user. Throws a sentence where there is no Go or the build fails.
 */
export async function findTemporalServer(input: Input): Promise<TemporalServerPrograms> {
  const target = join(cacheFolder(input.env), `temporal-server-${VERSION}`);
  // The folder appears under this name only when everything in it is complete.
  if (existsSync(target)) return programsIn(target);
  mkdirSync(dirname(target), { recursive: true });
  try {
    await lockAndBuild(target, input);
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(
      `the production Temporal server cannot be built here (${reason}): install Go 1.21 or newer, then try again`,
      {
        cause: error,
      },
    );
  }
  return programsIn(target);
}
