import { hash } from 'node:crypto';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';
import { newToken } from '../token.ts';

/**
 * How long a link opens: a day is enough to reach a person, and short should the link be left lying about.
 */
export const PASSWORD_LINK_MS = 24 * 3_600_000;

/** 256 random bits. */
const TOKEN_LENGTH = 43;
const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;

/** A link as it is handed out, once: the token exists nowhere else. */
export type NewPasswordLink = { readonly id: string; readonly token: string; readonly expiresAt: Date };

/** A link that was not used, has not expired and was not replaced, with the user it belongs to. */
export type OpenLink = { readonly id: string; readonly userId: string; readonly email: string };

/**
 * Makes a link inside the caller's transaction, which holds
 * the user's row. Every older one that was not used ends.
 */
export async function addPasswordLink(
  em: Em,
  deps: Pick<Deps, 'now' | 'newId'>,
  userId: string,
): Promise<NewPasswordLink> {
  await endPasswordLinks(em, userId);
  const now = deps.now();
  const link = {
    id: deps.newId(),
    token: newToken(TOKEN_LENGTH),
    expiresAt: new Date(now.getTime() + PASSWORD_LINK_MS),
  };
  await run(
    em,
    sql`insert into password_links (id, user_id, token_hash, created_at, expires_at)
      values (${link.id}, ${userId}, ${hash('sha256', link.token)}, ${now}, ${link.expiresAt})`,
  );
  return link;
}

/** Ends the user's links that were not used, inside the caller's transaction. */
export async function endPasswordLinks(em: Em, userId: string): Promise<void> {
  await run(em, sql`delete from password_links where user_id = ${userId} and used_at is null`);
}

/**
 * The open link of a token. One answer, by one look-up, for a
 * token that is unknown, used, replaced or expired: undefined.
 */
export async function findOpenLink(deps: Deps, token: string): Promise<OpenLink | undefined> {
  if (!TOKEN_SHAPE.test(token)) return undefined;
  return await firstRow(
    deps.orm.em.fork(),
    sql<OpenLink>`select l.id, l.user_id, u.email from password_links l join users u on u.id = l.user_id
      where l.token_hash = ${hash('sha256', token)} and u.removed_at is null and l.used_at is null
        and l.expires_at > ${deps.now()}`,
  );
}

/**
 * Whether this is the one use of the link: of any number of calls at
 * the same moment, one gets true. Runs inside the caller's transaction.
 */
export async function takePasswordLink(em: Em, deps: Pick<Deps, 'now'>, id: string): Promise<boolean> {
  const now = deps.now();
  return (
    (await run(
      em,
      sql`update password_links set used_at = ${now} where id = ${id} and used_at is null
        and expires_at > ${now}`,
    )) > 0
  );
}
