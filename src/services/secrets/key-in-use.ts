// Which SECRETS_KEY the rows of this database are sealed with, so that no process writes under another one.
import { OperatorError } from '../../base/errors.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';

/**
 * Throws an OperatorError where neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS is the key in use: what was
 * sealed then would count for nobody. The first process over a new database says which one it is, and whoever
 * changes the key which one is next.
 */
export async function requireKeyInUse(deps: Pick<Deps, 'orm' | 'secretBox'>): Promise<void> {
  const { mark, previous } = deps.secretBox;
  const em = deps.orm.em.fork();
  if ((await markInUse(em)) === undefined)
    await run(em, sql`insert into key_in_use (name, mark) values ('seals', ${mark}) on conflict do nothing`);
  if (previous) await run(em, sql`update key_in_use set mark = ${mark} where mark = ${previous.mark}`);
  if ((await markInUse(em))?.equals(mark)) return;
  throw new OperatorError(
    'SECRETS_KEY is not the key that this database is sealed with, and neither is SECRETS_KEY_PREVIOUS',
    'Give this process the SECRETS_KEY of the others; while it is changed, the one in use as SECRETS_KEY_PREVIOUS',
  );
}

/** What seals under the key in use begin with; undefined where no process has said it yet. */
async function markInUse(em: Em): Promise<Buffer | undefined> {
  return (await firstRow(em, sql<{ mark: Buffer }>`select mark from key_in_use`))?.mark;
}
