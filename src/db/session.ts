// What a session of PostgreSQL may be given from outside: a server, a database and a role can each be set to
// something else, and statements and parsers here are right for one setting only.
import { OperatorError } from '../base/errors.ts';
import { outageOf } from '../base/outage-of.ts';
import type { Em } from './orm.ts';
import { firstRow, sql } from './sql.ts';

/**
 * Goes out in the first packet of every connection, where it counts more than what the server, the database
 * or the role was given. Tables are made and looked for in one schema; dates and bytes are parsed in one
 * spelling; what a statement reads while others commit is decided for one isolation. The encoding is UTF-8 by
 * the driver's own packet. Whether a session may write is not pinned: somebody may have closed it on purpose.
 */
const SESSION = {
  search_path: 'public',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
} as const;

/** The option of a connection's first packet that sets these and what every session has. */
export function startupOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries({ ...settings, ...SESSION })
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`)
    .join(' ');
}

/**
 * Throws an OperatorError over what cannot be pinned: a database that holds only some letters, commits that
 * a crash takes back, and, where there are no tables yet, no right to make them.
 */
export async function requireUsableDatabase(em: Em): Promise<void> {
  const row = await firstRow(
    em,
    sql<{ encoding: string; commits: string; role: string; makes: boolean }>`
      select getdatabaseencoding() as encoding, current_setting('synchronous_commit') as commits,
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

/** PostgreSQL's code for a write in a session that may only read, and on a standby. */
export const READ_ONLY = '25006';

/**
 * Throws where PostgreSQL is away or takes no writes, see {@link takesNoWrites}. Asks as a write does, of no
 * row; a role that may not write, and a database without tables, are no outage.
 */
export async function requireWrites(em: Em): Promise<void> {
  try {
    await firstRow(em, sql`select 1 from chain_cursors where false for update`);
  } catch (error) {
    if (outageOf(error) !== undefined) throw error;
  }
}

/** Whether an error says that the session it came from may only read. */
export function takesNoWrites(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === READ_ONLY) || takesNoWrites(error.cause);
}
