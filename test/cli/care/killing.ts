import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '../../../dev/support/parts.ts';

/**
 * PostgreSQL's programs, with which a restore is killed: before the list of migrations is there, or as soon
 * as the rows are.
 */
export async function killingPrograms(
  programs: string,
  when: 'before the marker' | 'after the rows' = 'before the marker',
): Promise<string> {
  const folder = await tempDir('killing');
  const kill =
    when === 'after the rows'
      ? `*rows*) ${programs}/pg_restore "$@"; kill -9 $PPID; exit 1;;`
      : '*marker*) kill -9 $PPID; exit 1;;';
  for (const [name, line] of [
    ['pg_dump', ''],
    ['pg_restore', `case "$*" in ${kill} esac`],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\nexec ${programs}/${name} "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}
