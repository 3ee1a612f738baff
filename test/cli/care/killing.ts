import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '../../../dev/support/parts.ts';

/** PostgreSQL's programs, with which a restore is killed before the list of migrations is there. */
export async function killingPrograms(programs: string): Promise<string> {
  const folder = await tempDir('killing');
  for (const [name, line] of [
    ['pg_dump', ''],
    ['pg_restore', 'case "$*" in *marker*) kill -9 $PPID; exit 1;; esac'],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\nexec ${programs}/${name} "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}
