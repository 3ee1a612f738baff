// The rows of a backup, put into an empty database by PostgreSQL's own program.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DUMP_FILE, type Manifest } from './manifest.ts';
import { findProgram } from './programs.ts';
import { runProgram } from './run-program.ts';

/** The entry of a dump's list that holds the rows of this table. */
const MARKER_DATA = /^\d+; \d+ \d+ TABLE DATA public schema_migrations /;
/** The sequence of wallet indexes, and where it stands. */
const INDEXES = /^\d+; \d+ \d+ SEQUENCE (SET )?public wallet_index_seq /;
const RIGHTS_TO_INDEXES = /^\d+; \d+ \d+ ACL public SEQUENCE wallet_index_seq /;
/** Without it no signer takes up what is to be signed. */
const LOCK = /^\d+; \d+ \d+ (FUNCTION public|ACL public FUNCTION) lock_for_signing\(/;
/** What a database needs before an address is given away, anything is signed, or a process starts. */
const LAST = [MARKER_DATA, INDEXES, RIGHTS_TO_INDEXES, LOCK];
const AGAIN =
  'A role that is missing is made as deploy/postgres/databases.sh does it, or leave out what roles may with --no-privileges';

export type Dump = {
  readonly url: string;
  /** The folder of the backup. */
  readonly from: string;
  readonly manifest: Manifest;
  readonly privileges: boolean;
  /** Whether `between` makes the sequence of wallet indexes, or it is to be as it was. */
  readonly indexes: 'made between' | 'as they were';
  readonly programs: { readonly folder: string | undefined; readonly env: NodeJS.ProcessEnv };
  /** The name under which PostgreSQL's program is connected. */
  readonly applicationName: string;
};

/**
 * Everything but {@link LAST}; then `between`; then these. Whoever is connected before can neither make a
 * customer nor have anything signed. Throws an OperatorError where the program fails.
 */
export async function fill(dump: Dump, between: () => Promise<void>): Promise<void> {
  const { url, from, manifest, privileges, indexes, programs, applicationName } = dump;
  const program = await findProgram('pg_restore', manifest.postgres.pg_dump_major, programs);
  const file = join(from, DUMP_FILE);
  const call = { url, nextAction: AGAIN, applicationName };
  const list = (await runProgram(program, ['--list', file], call)).split('\n');
  const folder = mkdtempSync(join(tmpdir(), 'gateway-restore-'));
  const pass = async (name: string, lines: readonly string[]): Promise<void> => {
    const listFile = join(folder, name);
    writeFileSync(listFile, `${lines.join('\n')}\n`, { mode: 0o600 });
    const { pathname } = new URL(url);
    const args = [
      `--dbname=${decodeURIComponent(pathname.slice(1))}`,
      `--use-list=${listFile}`,
      '--single-transaction',
      '--exit-on-error',
      '--no-owner',
      ...(privileges ? [] : ['--no-privileges']),
    ];
    await runProgram(program, [...args, file], call);
  };
  const isIn = (line: string, of: readonly RegExp[]) => of.some((one) => one.test(line));
  try {
    await pass(
      'rows',
      list.filter((line) => !isIn(line, LAST)),
    );
    await between();
    const left = indexes === 'as they were' ? LAST : LAST.filter((one) => one !== INDEXES);
    await pass(
      'marker',
      list.filter((line) => isIn(line, left)),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
