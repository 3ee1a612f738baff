import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../base/errors.ts';
import { hideInText } from '../../base/log.ts';
import { terminal } from '../terminal.ts';
import type { Program } from './programs.ts';

const OUTPUT_BYTES = 8_000;
/** A list of everything in a dump has a line for each object. */
const LIST_BYTES = 16 * 1_048_576;

/**
 * Runs one of PostgreSQL's programs on this database and returns what it printed. The password stands neither
 * among its arguments nor in its environment, where others could read it, but in a file that goes afterwards.
 * Throws an OperatorError with what the program said.
 */
export async function runProgram(
  program: Program,
  args: readonly string[],
  {
    url,
    nextAction,
    applicationName,
  }: { readonly url: string; readonly nextAction: string; readonly applicationName: string },
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-pass-'));
  try {
    const file = join(folder, 'pass');
    const place = placeOf(url);
    writeFileSync(file, `${passLine(place)}\n`, { mode: 0o600 });
    return await ended(
      program,
      args,
      { ...environmentOf(url, place, file), PGAPPNAME: applicationName },
      nextAction,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Nothing of ours, which holds keys and passwords, and nothing that steers PostgreSQL's programs. */
export const bareEnv = (): NodeJS.ProcessEnv => ({
  PATH: terminal().env['PATH'],
  HOME: terminal().env['HOME'],
  TMPDIR: terminal().env['TMPDIR'],
  LC_ALL: 'C',
  TZ: 'UTC',
});

type Place = ReturnType<typeof placeOf>;

function placeOf(url: string) {
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port || '5432',
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  };
}

/** A line of a password file; what separates its members is written as its manual demands. */
function passLine({ host, port, database, user, password }: Place): string {
  return [host, port, database, user, password].map((part) => part.replace(/[\\:]/g, '\\$&')).join(':');
}

function environmentOf(url: string, place: Place, passFile: string): NodeJS.ProcessEnv {
  const parameters = new URL(url).searchParams;
  const [mode, authorities] = [parameters.get('sslmode'), parameters.get('sslrootcert')];
  return {
    ...bareEnv(),
    PGHOST: place.host,
    PGPORT: place.port,
    PGUSER: place.user,
    PGDATABASE: place.database,
    PGPASSFILE: passFile,
    PGCONNECT_TIMEOUT: '10',
    PGSSLMODE: mode ?? 'prefer',
    ...(authorities
      ? { PGSSLROOTCERT: authorities }
      : mode?.startsWith('verify')
        ? { PGSSLROOTCERT: 'system' }
        : {}),
  };
}

function ended(
  { file }: Program,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  nextAction: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err] = [{ text: '' }, { text: '' }];
    child.stdout
      .setEncoding('utf8')
      .on('data', (text: string) => (out.text = (out.text + text).slice(-LIST_BYTES)));
    child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => (err.text = (err.text + text).slice(-OUTPUT_BYTES)));
    const refuse = (said: string): void =>
      reject(new OperatorError(`${file} failed: ${hideInText(said)}`, nextAction));
    child.once('error', (error) => refuse(error.message));
    child.once('close', (code, signal) => {
      if (code === 0) resolve(out.text);
      else refuse(firstError(err.text) || `it ended with ${signal ?? code}`);
    });
  });
}

/** What went wrong, without the statements around it, which may hold rows. */
function firstError(text: string): string {
  const lines = text.split('\n').filter((line) => /\berror:|\bERROR:|FATAL:/.test(line));
  return (lines[0] ?? '').replace(/^.*?error:\s*/, '').slice(0, 300);
}
