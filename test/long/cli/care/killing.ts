import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '../../../../dev/support/parts.ts';

/**
 * PostgreSQL's programs, with which a restore is killed: before anything is there, as soon as the rows are,
 * or before the list of migrations is.
 */
export async function killingPrograms(
  programs: string,
  when: keyof typeof WHEN = 'before the marker',
): Promise<string> {
  const folder = await tempDir('killing');
  for (const [name, line] of [
    ['pg_dump', ''],
    ['pg_restore', `case "$*" in ${WHEN[when](programs)} esac`],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\nexec ${programs}/${name} "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

const WHEN = {
  'before the rows': () => '*rows*) kill -9 $PPID; exit 1;;',
  'after the rows': (programs: string) => `*rows*) ${programs}/pg_restore "$@"; kill -9 $PPID; exit 1;;`,
  'before the marker': () => '*marker*) kill -9 $PPID; exit 1;;',
  'not at all, and fails before the marker': () => '*marker*) echo no >&2; exit 1;;',
} as const;
