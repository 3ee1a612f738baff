import { bad, type Finding, good } from '../../base/finding.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';

/** What each setting has to be so that PostgreSQL's log holds no statement and no row. */
const QUIET: Readonly<Record<string, readonly string[]>> = {
  log_min_error_statement: ['fatal', 'panic'],
  log_error_verbosity: ['terse'],
  log_statement: ['none', 'ddl'],
  log_min_duration_statement: ['-1'],
  log_min_duration_sample: ['-1'],
  log_transaction_sample_rate: ['0'],
  // Absent where the module is not loaded.
  'auto_explain.log_min_duration': ['-1'],
};

/**
 * Whether PostgreSQL's own log would show data of customers, by the settings of
 * the role that asks, which is the service's.
 */
export async function checkTexts(em: Em): Promise<Finding> {
  const names = Object.keys(QUIET);
  const settings = await rows(
    em,
    sql<{ name: string; setting: string }>`select name, setting from pg_settings where name = any(${names})`,
  );
  const loud = settings.filter(({ name, setting }) => !QUIET[name]?.includes(setting));
  if (loud.length === 0) return good('database_log', 'holds neither statements nor rows');
  const said = loud.map(({ name, setting }) => `${name} = ${setting}`).join(', ');
  const action = loud.map(({ name }) => `alter role … set ${name} = '${QUIET[name]?.at(-1)}'`).join('; ');
  return bad(
    'database_log',
    `PostgreSQL's log shows emails, tokens and URLs: ${said}`,
    `As a superuser, for the role of DATABASE_URL: ${action}`,
  );
}
