import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { OperatorError } from '../../base/errors.ts';
import { hideInText } from '../../base/log.ts';
import { terminal } from '../terminal.ts';

const OUTPUT_BYTES = 8_000;
const AGAIN =
  'Make a role that is missing; take programs as new as the server (Debian: postgresql-client-18), by POSTGRES_BIN where they are not on PATH; then run it again';

/** Which database, and the folder of PostgreSQL's programs; without one they are searched for on PATH. */
export type Place = { readonly url: string; readonly programs: string | undefined };

/**
 * Runs one of PostgreSQL's own programs on this database. The password is in its environment, which its own
 * user alone can read and which ends with it, never among its arguments. Throws an OperatorError with what
 * it said.
 */
export async function runProgram(
  name: 'pg_dump' | 'pg_restore',
  args: readonly string[],
  { url, programs }: Place,
): Promise<void> {
  const file = programs === undefined ? name : join(programs, name);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(file, args, { env: environmentOf(url), stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => (said = (said + text).slice(-OUTPUT_BYTES)));
    const refuse = (problem: string): void =>
      reject(new OperatorError(`${file} failed: ${hideInText(problem)}`, AGAIN));
    child.once('error', (error) => refuse(error.message));
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else refuse(firstError(said) || `it ended with ${signal ?? code}`);
    });
  });
}

/** Nothing of ours, which holds keys and passwords, and nothing else that steers PostgreSQL's programs. */
function environmentOf(databaseUrl: string): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = terminal().env;
  const { hostname, port, username, password, pathname, searchParams } = new URL(databaseUrl);
  const mode = searchParams.get('sslmode') ?? 'prefer';
  const authorities = searchParams.get('sslrootcert') ?? (mode.startsWith('verify') ? 'system' : undefined);
  return {
    PATH,
    HOME,
    TMPDIR,
    LC_ALL: 'C',
    TZ: 'UTC',
    PGHOST: hostname.replace(/^\[(.*)\]$/, '$1'),
    PGPORT: port || '5432',
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGAPPNAME: 'gateway backup',
    PGCONNECT_TIMEOUT: '10',
    PGSSLMODE: mode,
    ...(authorities === undefined ? {} : { PGSSLROOTCERT: authorities }),
  };
}

/** What went wrong, without the statements around it, which may hold rows. */
function firstError(text: string): string {
  const lines = text.split('\n').filter((line) => /\berror:|\bERROR:|FATAL:/.test(line));
  return (lines[0] ?? '').replace(/^.*?error:\s*/, '').slice(0, 300);
}
