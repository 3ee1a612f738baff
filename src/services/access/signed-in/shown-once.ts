import type { Em } from '../../../db/orm.ts';
import { firstRow, run, sql } from '../../../db/sql.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { Deps, TxDeps } from '../../deps.ts';
import { openedIfKnown } from '../../secrets/sealed.ts';
import type { SessionOwner } from '../sessions.ts';

/** How long a secret waits for its page. */
const WAITS_MS = 10 * 60_000;

/**
 * Keeps a text that may be seen once, in the transaction that made the secret, for the session that asked
 * for it. Returns the id under which {@link takeShown} finds it: the id alone opens nothing.
 */
export async function keepForOneLook(
  em: Em,
  deps: Pick<TxDeps, 'now' | 'newId' | 'secretBox'>,
  { sessionId, text }: { readonly sessionId: string; readonly text: string },
): Promise<string> {
  const id = deps.newId();
  const expiresAt = new Date(deps.now().getTime() + WAITS_MS);
  await run(
    em,
    sql`insert into shown_secrets (id, session_id, sealed, expires_at)
      values (${id}, ${sessionId}, ${deps.secretBox.seal(text, id)}, ${expiresAt})`,
  );
  return id;
}

/**
 * The text, for the first of any number of requests of its own session; undefined for every other one,
 * for another session, and after ten minutes. From then on the text exists nowhere here.
 */
export async function takeShown(
  deps: Pick<Deps, 'orm' | 'now' | 'secretBox'>,
  owner: Pick<SessionOwner, 'sessionId'>,
  id: string,
): Promise<string | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ sealed: Buffer }>`delete from shown_secrets where id = ${id} and session_id = ${owner.sessionId}
      and expires_at > ${deps.now()} returning sealed`,
  );
  return row && openedIfKnown(deps.secretBox, row.sealed, id);
}
