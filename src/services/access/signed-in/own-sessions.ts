import { rows, run, type Statement, sql } from '../../../db/sql.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import { recordAction } from '../../audit/record.ts';
import type { Deps } from '../../deps.ts';
import { notFound } from '../../refusal.ts';
import { changeWithin, holdUser, type Within } from '../../within.ts';
import { type SessionOwner, stepUpEnd } from '../sessions.ts';

/** A session as its owner sees it; `current` is the one that the request was made with. */
export type SessionView = {
  readonly id: string;
  readonly current: boolean;
  readonly created_at: string;
  readonly last_seen_at: string;
  /** Where it was opened from: an IPv4 address, or the /64 of an IPv6 one; null where it was not noted. */
  readonly from: string | null;
  /** Whether password and code were shown again a few minutes ago. */
  readonly stepped_up: boolean;
};

/** The sessions of the caller that have not ended, the latest login first; there are never more than 50. */
export async function listOwnSessions(deps: Deps, owner: SessionOwner): Promise<SessionView[]> {
  const { idleMs, maxMs } = deps.settings.sessions;
  const now = deps.now();
  const open = await rows(
    deps.orm.em.fork(),
    sql<{
      id: string;
      createdAt: string;
      lastSeenAt: string;
      site: string | null;
      steppedUpAt: string | null;
    }>`select id, created_at, last_seen_at, site, stepped_up_at from sessions
      where user_id = ${owner.userId} and last_seen_at > ${after(now, -idleMs)}
        and created_at > ${after(now, -maxMs)}
        and last_seen_at <= ${after(now, idleMs)} order by created_at desc, id desc`,
  );
  return open.map(({ id, createdAt, lastSeenAt, site, steppedUpAt }) => ({
    id,
    current: id === owner.sessionId,
    created_at: isoSeconds(new Date(createdAt)),
    last_seen_at: isoSeconds(new Date(lastSeenAt)),
    from: site,
    stepped_up: stepUpEnd(steppedUpAt === null ? null : new Date(steppedUpAt), now) !== undefined,
  }));
}

/**
 * Ends one session of the caller at once. Throws a NOT_FOUND
 * {@link Refusal} for one that belongs to somebody else or has ended.
 */
export async function endOwnSession(
  deps: Deps,
  owner: SessionOwner,
  id: string,
  how: Within = {},
): Promise<void> {
  const ended = isUuid(id) ? await endWhere(deps, owner, sql`id = ${id}`, how) : 0;
  if (ended === 0) throw notFound('session');
}

/**
 * Ends every session of the caller except the one that
 * the request was made with; returns how many there were.
 */
export async function endOtherSessions(deps: Deps, owner: SessionOwner, how: Within = {}): Promise<number> {
  return await endWhere(deps, owner, sql`id <> ${owner.sessionId}`, how);
}

async function endWhere(
  deps: Deps,
  { userId, merchantId }: SessionOwner,
  which: Statement<unknown>,
  how: Within,
): Promise<number> {
  return await changeWithin(deps, how, async (em) => {
    await holdUser(em, userId);
    const ended = await run(em, sql`delete from sessions where user_id = ${userId} and ${which}`);
    if (ended > 0)
      await recordAction(em, deps, {
        action: 'user.end-sessions',
        merchantId,
        subject: userId,
        after: { ended },
      });
    return ended;
  });
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
