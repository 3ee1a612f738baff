import { hash, randomBytes } from 'node:crypto';
import type { Em } from '../../db/orm.ts';
import { rows as rowsOf, run, type Statement, sql } from '../../db/sql.ts';
import { isoSeconds } from '../../domain/events.ts';
import { isUuid } from '../../domain/ids.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../refusal.ts';

const TOKEN_BYTES = 32;
const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;
/** The use of a session is written down at most this often; a shorter idle time needs more frequent notes. */
const NOTE_EVERY_MS = 60_000;
const NOTES_OF_IDLE = 10;
const MAX_SESSIONS_OF_USER = 50;
const MAX_ENDED_AT_ONCE = 10;
const PURGE_BATCH = 5_000;
/** After this long without a login from a site, it no longer counts as known. */
const SITE_KEPT_MS = 365 * 86_400_000;

/** Who is signed in. */
export type SessionOwner = {
  readonly sessionId: string;
  readonly userId: string;
  readonly merchantId: string;
  /** Whether the merchant's subscription is active now. */
  readonly subscribed: boolean;
};

/** Returns who is signed in with a token; undefined for a malformed, unknown, revoked or expired one. */
export type SessionFinder = (token: string) => Promise<SessionOwner | undefined>;

/**
 * Makes a session inside the caller's transaction and returns its token,
 * which exists nowhere else. The user's oldest sessions beyond 50 end.
 */
export async function addSession(em: Em, deps: Deps, userId: string): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const now = deps.now();
  await run(
    em,
    sql`insert into sessions (id, user_id, token_hash, created_at, last_seen_at)
      values (${deps.newId()}, ${userId}, ${hash('sha256', token)}, ${now}, ${now})`,
  );
  await run(
    em,
    sql`delete from sessions where id in (
      select id from sessions where user_id = ${userId} order by created_at desc, id desc
        offset ${MAX_SESSIONS_OF_USER})`,
  );
  return token;
}

/**
 * One indexed query for each question, none for what cannot be a
 * token. The use of a session is written at most once a minute.
 */
export function createSessionFinder(deps: Deps): SessionFinder {
  const { idleMs, maxMs } = deps.settings.sessions;
  const noteEveryMs = Math.min(NOTE_EVERY_MS, Math.floor(idleMs / NOTES_OF_IDLE));
  return async (token) => {
    if (!TOKEN_SHAPE.test(token)) return undefined;
    const now = deps.now();
    const noted = before(now, noteEveryMs);
    const pool = await deps.orm.em.getConnection().getNativeClient();
    const { rows } = await pool.query<{
      id: string;
      user_id: string;
      merchant_id: string;
      is_due: boolean;
      subscribed: boolean;
    }>({
      name: 'find-session',
      text: `select s.id, s.user_id, u.merchant_id, s.last_seen_at <= $5 as is_due,
               m.subscription_active and (m.subscription_until is null
                 or m.subscription_until > $2) as subscribed
             from sessions s join users u on u.id = s.user_id join merchants m on m.id = u.merchant_id
             where s.token_hash = $1 and s.last_seen_at > $3 and s.created_at > $4 and s.last_seen_at <= $6`,
      values: [
        hash('sha256', token),
        now,
        before(now, idleMs),
        before(now, maxMs),
        noted,
        after(now, idleMs),
      ],
    });
    const row = rows[0];
    if (!row) return undefined;
    // Of simultaneous requests one writes; a session that was revoked meanwhile is gone, and stays gone.
    if (row.is_due)
      await pool.query('update sessions set last_seen_at = $2 where id = $1 and last_seen_at <= $3', [
        row.id,
        now,
        noted,
      ]);
    return {
      sessionId: row.id,
      userId: row.user_id,
      merchantId: row.merchant_id,
      subscribed: row.subscribed,
    };
  };
}

/**
 * Ends the sessions of these tokens at once, of the first ten at most. A token without a session is no error.
 */
export async function endSessions(em: Em, tokens: readonly string[]): Promise<void> {
  const good = tokens.filter((token) => TOKEN_SHAPE.test(token)).slice(0, MAX_ENDED_AT_ONCE);
  for (const token of good)
    await run(em, sql`delete from sessions where token_hash = ${hash('sha256', token)}`);
}

/** A session as its owner sees it; `current` is the one that the request was made with. */
export type SessionView = {
  readonly id: string;
  readonly current: boolean;
  readonly created_at: string;
  readonly last_seen_at: string;
};

/** The sessions of the caller that have not ended, the latest login first; there are never more than 50. */
export async function listOwnSessions(deps: Deps, owner: SessionOwner): Promise<SessionView[]> {
  const { idleMs, maxMs } = deps.settings.sessions;
  const now = deps.now();
  const open = await rowsOf(
    deps.orm.em.fork(),
    sql<{
      id: string;
      createdAt: string;
      lastSeenAt: string;
    }>`select id, created_at, last_seen_at from sessions
      where user_id = ${owner.userId} and last_seen_at > ${before(now, idleMs)}
        and created_at > ${before(now, maxMs)}
        and last_seen_at <= ${after(now, idleMs)} order by created_at desc, id desc`,
  );
  return open.map(({ id, createdAt, lastSeenAt }) => ({
    id,
    current: id === owner.sessionId,
    created_at: isoSeconds(new Date(createdAt)),
    last_seen_at: isoSeconds(new Date(lastSeenAt)),
  }));
}

/**
 * Ends one session of the caller at once. Throws a NOT_FOUND
 * {@link Refusal} for one that belongs to somebody else or has ended.
 */
export async function endOwnSession(deps: Deps, owner: SessionOwner, id: string): Promise<void> {
  const ended = isUuid(id) ? await endWhere(deps, owner, sql`id = ${id}`) : 0;
  if (ended === 0) throw notFound('session');
}

/**
 * Ends every session of the caller except the one that
 * the request was made with; returns how many there were.
 */
export async function endOtherSessions(deps: Deps, owner: SessionOwner): Promise<number> {
  return await endWhere(deps, owner, sql`id <> ${owner.sessionId}`);
}

async function endWhere(
  deps: Deps,
  { userId, merchantId }: SessionOwner,
  which: Statement<unknown>,
): Promise<number> {
  return await deps.orm.em.fork().transactional(async (em) => {
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

/** Ends every session of a user inside the caller's transaction. */
export async function endSessionsOf(em: Em, userId: string): Promise<void> {
  await run(em, sql`delete from sessions where user_id = ${userId}`);
}

/**
 * Removes what has ended: sessions, budgets of attempts, links, and
 * addresses that nobody used for a year. At most 5,000 rows of each.
 */
export async function purgeSessions(deps: Deps): Promise<void> {
  const { idleMs, maxMs } = deps.settings.sessions;
  const now = deps.now();
  const [idle, old, ahead] = [before(now, idleMs), before(now, maxMs), after(now, idleMs)];
  const ended = {
    sessions: sql`last_seen_at <= ${idle} or created_at <= ${old} or last_seen_at > ${ahead}`,
    login_budgets: sql`ends_at <= ${now}`,
    password_links: sql`expires_at <= ${now}`,
    user_sites: sql`last_login_at <= ${before(now, SITE_KEPT_MS)}`,
  };
  const em = deps.orm.em.fork();
  for (const [name, condition] of Object.entries(ended)) {
    const table = sql.table(name);
    // The condition is there twice: a row that was renewed while the deletion waited for it stays.
    await run(
      em,
      sql`delete from ${table} where ctid in (select ctid from ${table} where ${condition}
        limit ${PURGE_BATCH}) and (${condition})`,
    );
  }
}

/**
 * A session whose last use is later than this was noted by a clock that ran ahead:
 * it counts as ended, because otherwise it would stay open until that time has come.
 */
function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

function before(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms);
}
