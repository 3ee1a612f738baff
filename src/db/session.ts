// What a session of PostgreSQL may be given from outside: a server, a database and a role can each be set to
// something else, and statements and parsers here are right for one setting only.

/**
 * Goes out in the first packet of every connection, where it counts more than what the server, the database
 * or the role was given. Tables are made and looked for in one schema; dates and bytes are parsed in one
 * spelling; what a statement reads while others commit is decided for one isolation; and a session that holds
 * the lock of migrations, or listens, is idle for long. The encoding is UTF-8 by the driver's own packet.
 * Whether a session may write is not pinned: somebody may have closed it on purpose.
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
  idle_session_timeout: '0',
} as const;

/** The option of a connection's first packet that sets these and what every session has. */
export function startupOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries({ ...settings, ...SESSION })
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`)
    .join(' ');
}

/** PostgreSQL's code for a write in a session that may only read, and on a standby. */
export const READ_ONLY = '25006';
