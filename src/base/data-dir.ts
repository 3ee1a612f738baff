import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pause } from './async/pause.ts';
import { InUse } from './errors.ts';
import { identify, isSameProcess, type ProcessIdentity } from './process-table.ts';
import { type Print, stopLeftovers } from './processes.ts';

/**
 * What a running gateway tells the command line and other roles. Holds
 * the database password and keys of providers: the file is readable by its owner only.
 */
export type Run = {
  readonly api: string | null;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalUi: string | null;
  readonly pid: number;
  /** How it reads chains and prices; a command that is told nothing of them reads them in the same way. */
  readonly variables?: Readonly<Record<string, string>>;
};

/** A data folder held by this process. */
export type DataDir = { readonly path: string; release(): void };

/** A lock that is held until it is released or this process ends. */
export type Lock = { release(): void };

const LOCK_WAIT_MS = 3_000;
const LOCK_POLL_MS = 50;

const runFile = (dataDir: string) => join(dataDir, 'run.json');

function writePrivate(file: string, text: string): void {
  const next = `${file}.${process.pid}`;
  rmSync(next, { force: true });
  writeFileSync(next, text, { mode: 0o600, flag: 'wx' });
  renameSync(next, file);
}

// A database object without any reference is collected, and its lock goes with it.
const held = new Set<DatabaseSync>();

/**
 * Takes a lock that the operating system drops when this process ends in whatever way: it is a lock on the
 * file, held through SQLite, so a stale lock cannot exist. Returns undefined while another holder has it.
 */
export function tryLock(file: string): Lock | undefined {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    held.add(database);
    return {
      release() {
        if (held.delete(database)) database.close();
      },
    };
  } catch (error) {
    database.close();
    if (/locked/.test(String(error))) return undefined;
    throw new Error(
      `the lock ${file} cannot be used (${(error as Error).message}): delete that file and try again`,
    );
  }
}

function holderOf(path: string): number | undefined {
  try {
    return Number(readFileSync(join(path, 'lock.pid'), 'utf8').trim()) || undefined;
  } catch {
    return undefined;
  }
}

async function takeLock(path: string): Promise<Lock> {
  for (let waitedMs = 0; ; waitedMs += LOCK_POLL_MS) {
    const lock = tryLock(join(path, 'lock'));
    if (lock) return lock;
    const holder = holderOf(path);
    // A holder that was just killed keeps the lock for as long as it takes to die.
    const dying = holder === undefined || !identify(holder);
    if (!dying || waitedMs >= LOCK_WAIT_MS) {
      const who = holder === undefined ? 'another process' : `process ${holder}`;
      throw new InUse(
        `${path} is in use by ${who}`,
        'Stop that gateway first, or set DATA_DIR to another folder',
      );
    }
    await pause(LOCK_POLL_MS);
  }
}

/**
 * Makes the data folder, locks it for this process and stops what a killed one left running in it.
 * Throws {@link InUse} with a sentence when another gateway uses it.
 */
export async function openDataDir(dataDir: string, log: Print): Promise<DataDir> {
  const path = resolve(dataDir);
  // 0711: the operating system's `postgres` user has to pass
  // through to its own folder; every file in here is 0600.
  mkdirSync(path, { recursive: true, mode: 0o711 });
  const lock = await takeLock(path);
  try {
    chmodSync(join(path, 'lock'), 0o600);
    writePrivate(join(path, 'lock.pid'), `${process.pid}\n`);
    await stopLeftovers(path, log);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    path,
    release() {
      rmSync(join(path, 'lock.pid'), { force: true });
      lock.release();
    },
  };
}

/** Tells the command line and other roles where this gateway can be reached, until `pid` ends. */
export function writeRun(dataDir: string, run: Run): void {
  writePrivate(runFile(dataDir), JSON.stringify({ ...run, process: identify(run.pid) }, null, 2));
}

/** What the gateway that runs over this folder wrote, or undefined when none runs. */
export function readRun(dataDir: string): Run | undefined {
  try {
    const { process: owner, ...run } = JSON.parse(readFileSync(runFile(dataDir), 'utf8')) as Run & {
      process: ProcessIdentity;
    };
    return isSameProcess(owner) ? run : undefined;
  } catch {
    return undefined;
  }
}

/** Removes what {@link writeRun} wrote. */
export function removeRun(dataDir: string): void {
  rmSync(runFile(dataDir), { force: true });
}
