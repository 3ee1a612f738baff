import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Print } from '../base/processes.ts';
import { canReach, type OsUser, SHARED_DIR } from './postgres-binaries.ts';

/** The database of the gateway inside the cluster, and the role that owns it. */
export const DATABASE_NAME = 'gateway';
export const ROLE_NAME = 'gateway';

const MAJOR_VERSION = '18';

/** A cluster on disk, ready to be started. */
export type Cluster = { readonly dir: string; readonly password: string };

function run(
  command: string,
  args: readonly string[],
  options: { user: OsUser | undefined; cwd: string; input?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const ids = options.user ? { uid: options.user.uid, gid: options.user.gid } : {};
    const child = spawn(command, args, {
      ...ids,
      cwd: options.cwd,
      env: programEnv(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => (output = (output + chunk).slice(-4000)));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} failed (${code}): ${output.trim()}`)),
    );
    child.stdin.end(options.input ?? '');
  });
}

/** PostgreSQL's programs must not be steered by the caller's PG* variables or locale. */
export function programEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}

/**
 * Where the cluster is kept. As root it must be a folder that the `postgres` user can reach; if
 * the data folder is not, a link leads to one that is.
 */
function placeFor(dataDir: string, user: OsUser | undefined, log: Print): string {
  const link = join(dataDir, 'pg');
  if (existsSync(link)) {
    const dir = realpathSync(link);
    if (!canReach(dirname(dir), user))
      throw new Error(
        `${dir} holds the database, and the system user "postgres" cannot enter that folder: move DATA_DIR to where it can, or run the gateway as an ordinary user`,
      );
    return dir;
  }
  // Only our own folder is opened for passing through, never a folder above it.
  if (user && (statSync(dataDir).mode & 0o001) === 0)
    chmodSync(dataDir, (statSync(dataDir).mode & 0o777) | 0o011);
  if (canReach(dataDir, user)) return link;
  const elsewhere = join(SHARED_DIR, 'clusters', randomBytes(8).toString('hex'), 'pg');
  log(
    `the database lies in ${elsewhere} (linked from ${link}): the system user "postgres" cannot enter ${dataDir}`,
  );
  mkdirSync(dirname(elsewhere), { recursive: true, mode: 0o755 });
  rmSync(link, { force: true });
  symlinkSync(elsewhere, link);
  return elsewhere;
}

async function create(input: {
  dir: string;
  programs: string;
  user: OsUser | undefined;
  password: string;
  fsync: boolean;
}): Promise<void> {
  const { dir, programs, user, password, fsync } = input;
  const staging = `${dir}.new`;
  const passwordFile = `${dir}.password.new`;
  rmSync(staging, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  mkdirSync(staging, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) for (const path of [staging, passwordFile]) chownSync(path, user.uid, user.gid);
  const options = { user, cwd: dirname(dir) };
  try {
    // The built-in C.UTF-8 sorts by code point and is the same on every machine, unlike the system's locales.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = [`--username=${ROLE_NAME}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    await run(
      join(programs, 'bin/initdb'),
      ['-D', staging, ...locale, ...access, ...(fsync ? [] : ['--no-sync'])],
      options,
    );
    const single = ['--single', '-D', staging, '-c', `fsync=${fsync ? 'on' : 'off'}`, 'postgres'];
    await run(join(programs, 'bin/postgres'), single, {
      ...options,
      input: `CREATE DATABASE ${DATABASE_NAME}\n`,
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(staging, dir); // a cluster that was cut short while being made never gets the real name
}

function passwordOf(dataDir: string): string {
  const file = join(dataDir, 'pg-password');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  if (existsSync(join(dataDir, 'pg')))
    throw new Error(
      `${file} is missing, so the database in ${dataDir} cannot be opened: restore that file, or remove the folder to start afresh`,
    );
  const password = randomBytes(24).toString('base64url');
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  return password;
}

/**
 * Finds the cluster of this data folder or makes it. Throws a sentence when what exists there cannot be used.
 */
export async function openCluster(input: {
  dataDir: string;
  programs: string;
  user: OsUser | undefined;
  fsync: boolean;
  log: Print;
}): Promise<Cluster> {
  const { dataDir, programs, user, fsync, log } = input;
  const password = passwordOf(dataDir);
  const dir = placeFor(dataDir, user, log);
  if (!existsSync(join(dir, 'PG_VERSION'))) {
    log(`making a PostgreSQL ${MAJOR_VERSION} cluster in ${dir}`);
    await create({ dir, programs, user, password, fsync });
  }
  const version = readFileSync(join(dir, 'PG_VERSION'), 'utf8').trim();
  if (version !== MAJOR_VERSION)
    throw new Error(
      `${dir} is a PostgreSQL ${version} cluster and this gateway brings PostgreSQL ${MAJOR_VERSION}: move its data with pg_dump and pg_restore, or set DATABASE_URL`,
    );
  const owner = statSync(dir).uid;
  const expected = user?.uid ?? process.getuid?.() ?? owner;
  if (owner !== expected)
    throw new Error(
      `${dir} belongs to user id ${owner}, and PostgreSQL would run as user id ${expected}: run the gateway as the user that made it, or chown -R that folder`,
    );
  return { dir, password };
}
