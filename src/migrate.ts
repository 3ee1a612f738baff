import { MIGRATIONS } from '../migrations/index.ts';
import type { Orm } from './db/orm.ts';
import { OperatorError } from './errors.ts';

/** Applies every migration that the database lacks, in one transaction. Returns their names. */
export async function migrate(orm: Orm): Promise<string[]> {
  const applied = await orm.migrator.up();
  return applied.map((migration) => migration.name);
}

/** Throws an OperatorError when the database is behind this program, or ahead of it. */
export async function requireCurrentSchema(orm: Orm): Promise<void> {
  const known = new Set(MIGRATIONS.map((migration) => migration.name));
  const foreign = (await orm.migrator.getExecuted()).filter((migration) => !known.has(migration.name));
  if (foreign.length > 0) {
    throw new OperatorError(
      `The database is ahead of this program: it holds the migration ${foreign[0]?.name}`,
      'Install the version that made it, or a newer one',
    );
  }
  const pending = await orm.migrator.getPending();
  if (pending.length > 0) {
    throw new OperatorError(
      `The database is behind: ${pending.length} of its migrations were not applied`,
      'Run "gateway migrate" and start again',
    );
  }
}
