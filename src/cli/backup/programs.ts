// PostgreSQL's own programs that read and write dumps: where they are, and whether they fit the server.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../base/errors.ts';
import { onPath } from '../../embedded/packages.ts';
import { terminal } from '../terminal.ts';

const run = promisify(execFile);

export type DumpProgram = 'pg_dump' | 'pg_restore';
export type Program = { readonly file: string; readonly version: string; readonly major: number };

const VERSION_WITHIN_MS = 10_000;
/** Where Debian keeps the programs of each version, of which PATH has the newest. */
const DEBIAN = '/usr/lib/postgresql';

/**
 * The program that fits a server or a dump of this major version: it has to be as new as that, or newer. It
 * is searched for in `folder` (POSTGRES_BIN) alone where that is set, else on PATH and where Debian keeps
 * several versions. Throws a sentence that says what to install.
 */
export async function findProgram(
  name: DumpProgram,
  major: number,
  { folder, env }: { readonly folder: string | undefined; readonly env: NodeJS.ProcessEnv },
): Promise<Program> {
  const found: Program[] = [];
  for (const file of candidates(name, folder, env)) {
    const program = await versionOf(file);
    if (program && program.major >= major) return program;
    if (program) found.push(program);
  }
  const install = `Install the client programs of PostgreSQL ${major} or newer (Debian: postgresql-client-${major}), or set POSTGRES_BIN to the folder that has them`;
  const [best] = found.sort((one, other) => other.major - one.major);
  throw best
    ? new OperatorError(
        `${best.file} is of PostgreSQL ${best.version} and cannot be used with PostgreSQL ${major}`,
        install,
      )
    : new OperatorError(
        folder === undefined ? `There is no ${name} on PATH` : `There is no ${name} in ${folder}`,
        install,
      );
}

function candidates(name: DumpProgram, folder: string | undefined, env: NodeJS.ProcessEnv): string[] {
  if (folder !== undefined) return [join(folder, name)].filter(existsSync);
  const first = onPath(name, env);
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const others = versions
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(DEBIAN, version, 'bin', name));
  return [...(first === undefined ? [] : [first]), ...others].filter(existsSync);
}

async function versionOf(file: string): Promise<Program | undefined> {
  try {
    const { stdout } = await run(file, ['--version'], {
      timeout: VERSION_WITHIN_MS,
      env: { PATH: terminal().env['PATH'], LC_ALL: 'C' },
    });
    const version = /\b(\d{1,3})(?:\.\d{1,3})?(?:(?:beta|rc|devel)\d{0,3})?\b/.exec(stdout);
    return version ? { file, version: version[0], major: Number(version[1]) } : undefined;
  } catch {
    return undefined;
  }
}
