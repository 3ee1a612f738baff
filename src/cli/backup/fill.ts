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
/** Of the whole database and not of the place of the tables, so nothing takes it away again with these. */
const RIGHTS_LATER = /^\d+; \d+ \d+ DEFAULT ACL /;
/** What a database needs before an address is given away, anything is signed, or a process starts. */
const LAST = [MARKER_DATA, INDEXES, RIGHTS_TO_INDEXES, LOCK, RIGHTS_LATER];
/** What acts on a whole database, or takes rows out of it, and is no part of the gateway's. */
const OF_THE_DATABASE = /^\d+; \d+ \d+ (EVENT TRIGGER|PUBLICATION|SUBSCRIPTION) /;
const AGAIN =
  'See what it says, and run it again. A role that is missing is made as deploy/postgres/databases.sh does it, or leave out what roles may with --no-privileges';

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

/** The entries of a dump that are restored, as its list has them, and the others. */
export type Entries = { readonly taken: readonly string[]; readonly left: readonly string[] };

/**
 * What there is in a dump. Left out is what acts on a whole database, and all of a schema that is there
 * already: it is somebody else's. Throws an OperatorError where the dump cannot be read.
 */
export async function entriesOf(
  { url, from, manifest, programs, applicationName }: Omit<Dump, 'privileges' | 'indexes'>,
  schemas: readonly string[],
): Promise<Entries> {
  const program = await findProgram('pg_restore', manifest.postgres.pg_dump_major, programs);
  const call = { url, nextAction: AGAIN, applicationName };
  const all = (await runProgram(program, ['--list', join(from, DUMP_FILE)], call)).split('\n');
  const there = new Set(schemas);
  const isLeft = (entry: string) =>
    OF_THE_DATABASE.test(entry) ||
    (!OURS.test(entry) && [...schemasMadeBy(entry), ...schemasAround(entry)].some((name) => there.has(name)));
  return { taken: all.filter((entry) => !isLeft(entry)), left: all.filter(isLeft) };
}

const OURS = /^\d+; \d+ \d+ (?:[A-Z ]+ public|SCHEMA - public|ACL - SCHEMA public) /;
const MAKES_SCHEMA = /^\d+; \d+ \d+ (?:SCHEMA -|ACL - SCHEMA) (.*)$/;
/** In PostgreSQL no name is longer. */
const LONGEST_NAME = 63;

/**
 * The names that a schema may have which an entry makes, or says what others may in: where it ends is not
 * told from a space in it. As many as the entry has words, however many schemas there are.
 */
export function schemasMadeBy(entry: string): string[] {
  const after = MAKES_SCHEMA.exec(entry)?.[1];
  return after === undefined ? [] : beginnings(after.split(' '));
}

/** The names that the schema may have in which what an entry makes lies; a hyphen stands for none. */
function schemasAround(entry: string): string[] {
  const words = entry.replace(/^\d+; \d+ \d+ /, '').split(' ');
  const kind = words.findIndex((word) => !/^[A-Z]*$/.test(word));
  const most = kind === -1 ? words.length - 1 : kind;
  const found = Array.from({ length: most }, (_, at) => beginnings(words.slice(at + 1)));
  return found.flat().filter((name) => name !== '-' && !name.startsWith('- '));
}

function beginnings(words: readonly string[]): string[] {
  const found: string[] = [];
  for (let n = 1; n < words.length; n += 1) {
    const name = words.slice(0, n).join(' ');
    if (name.length > LONGEST_NAME) break;
    found.push(name);
  }
  return found;
}

/**
 * Of these entries everything but {@link LAST}; then `between`; then these. Whoever is connected before can
 * neither make a customer nor have anything signed. Throws an OperatorError where the program fails.
 */
export async function fill(dump: Dump, list: readonly string[], between: () => Promise<void>): Promise<void> {
  const { url, from, manifest, privileges, indexes, programs, applicationName } = dump;
  const program = await findProgram('pg_restore', manifest.postgres.pg_dump_major, programs);
  const file = join(from, DUMP_FILE);
  const call = { url, nextAction: AGAIN, applicationName };
  const folder = mkdtempSync(join(tmpdir(), 'gateway-restore-'));
  const pass = async (name: string, lines: readonly string[]): Promise<void> => {
    const listFile = join(folder, name);
    writeFileSync(listFile, `${lines.join('\n')}\n`, { mode: 0o600 });
    const database = decodeURIComponent(new URL(url).pathname.slice(1));
    const args = [
      // A bare name that has an equals sign in it would be read as such a text.
      `--dbname=dbname='${database.replace(/['\\]/g, '\\$&')}'`,
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
