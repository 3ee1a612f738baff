import { OperatorError } from '../base/errors.ts';
import type { Em } from './orm.ts';
import { READ_ONLY } from './session.ts';
import { firstRow, sql } from './sql.ts';

/**
 * Throws an OperatorError over what cannot be pinned: a database that holds only some letters, commits that
 * a crash takes back, triggers that are switched off, and, where there are no tables yet, no right to make
 * them; and where a pooler keeps what is pinned to itself.
 */
export async function requireUsableDatabase(em: Em): Promise<void> {
  const row = await firstRow(
    em,
    sql<{ encoding: string; commits: string; triggers: string; path: string; role: string; makes: boolean }>`
      select getdatabaseencoding() as encoding, current_setting('synchronous_commit') as commits,
        current_setting('session_replication_role') as triggers, current_setting('search_path') as path,
        current_user::text as role, exists (select 1 from pg_namespace n where nspname = 'public'
          and (has_schema_privilege(n.oid, 'create') or exists (select 1 from pg_class
            where relname = 'schema_migrations' and relnamespace = n.oid))) as makes`,
  );
  if (row && row.encoding !== 'UTF8')
    throw new OperatorError(
      `The database's encoding is ${row.encoding}, which cannot hold every name`,
      'Make one with "create database … template template0 encoding \'UTF8\'", and set DATABASE_URL to it',
    );
  if (row?.commits === 'off')
    throw new OperatorError(
      'synchronous_commit is off for this database or its role: a crash of PostgreSQL would take back what was told',
      'Set it to "on" (alter role, alter database, or postgresql.conf), and start again',
    );
  if (row?.triggers === 'replica')
    throw new OperatorError(
      'session_replication_role is "replica" for this database or its role: triggers, which keep the sums and the ledger, would not run',
      'Set it to "origin" (alter role, alter database, or postgresql.conf), and start again',
    );
  if (row && row.path !== 'public')
    throw new OperatorError(
      'What each connection sets in its start-up parameter "options" did not reach PostgreSQL: a pooler keeps it to itself',
      'Let it pass "options", with one connection for each session, or set DATABASE_URL to PostgreSQL itself',
    );
  if (row && !row.makes)
    throw new OperatorError(
      `The role ${row.role} may not make tables in the schema "public", where all of them are`,
      `Run "create schema if not exists public; grant usage, create on schema public to ${row.role}" as the database's owner, then start again`,
    );
}

/** PostgreSQL's time, at which the transaction of `em` began where there is one. */
export async function databaseTime(em: Em): Promise<Date> {
  const row = await firstRow(em, sql<{ at: string }>`select now()::text as at`);
  return new Date(row?.at ?? Number.NaN);
}

/** No such table yet; no right to write in it. */
const SAYS_NOTHING = ['42P01', '42501'];

/**
 * Throws where PostgreSQL is away or takes no writes, see {@link takesNoWrites}. Asks as a write does, of no
 * row; a role that may not write, and a database without tables, are no outage.
 */
export async function requireWrites(em: Em): Promise<void> {
  try {
    await firstRow(em, sql`select 1 from chain_cursors where false for update`);
  } catch (error) {
    if (!hasCode(error, SAYS_NOTHING)) throw error;
  }
}

/** Whether an error says that the session it came from may only read. */
export function takesNoWrites(error: unknown): boolean {
  return hasCode(error, [READ_ONLY]);
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && codes.includes(String(error.code))) || hasCode(error.cause, codes);
}
