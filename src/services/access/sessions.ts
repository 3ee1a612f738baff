import { hash, randomBytes } from 'node:crypto';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';
import { stepUpRequired } from '../refusal.ts';

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
/** For how long a step-up counts. */
export const STEP_UP_MS = 10 * 60_000;
/** How far the clocks of two processes may lie apart. */
const CLOCKS_DIFFER_MS = 60_000;

/** Who is signed in. */
export type SessionOwner = {
  readonly sessionId: string;
  readonly userId: string;
  readonly merchantId: string;
  /** Whether the merchant's subscription is active now. */
  readonly subscribed: boolean;
  /** When password and code were last shown again. */
  readonly steppedUpAt: Date | null;
};

/** Returns who is signed in with a token; undefined for a malformed, unknown, revoked or expired one. */
export type SessionFinder = (token: string) => Promise<SessionOwner | undefined>;

/**
 * Makes a session inside the caller's transaction and returns its token,
 * which exists nowhere else. The user's oldest sessions beyond 50 end.
 */
export async function addSession(
  em: Em,
  deps: Deps,
  { userId, site }: { readonly userId: string; readonly site: string },
): Promise<string> {
  const token = newToken();
  const now = deps.now();
  await run(
    em,
    sql`insert into sessions (id, user_id, token_hash, created_at, last_seen_at, site)
      values (${deps.newId()}, ${userId}, ${hash('sha256', token)}, ${now}, ${now}, ${site})`,
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
 * Gives the session another token inside the caller's transaction, and notes when it was stepped up: null
 * ends a step-up. It stays the same session and ends when it would have ended; a copy of the token that it
 * had opens nothing any more. Throws a STEP_UP_REQUIRED {@link Refusal} for a session that is gone.
 */
export async function renewSession(
  em: Em,
  { sessionId, userId }: SessionOwner,
  steppedUpAt: Date | null,
): Promise<string> {
  const token = newToken();
  const renewed = await run(
    em,
    sql`update sessions set token_hash = ${hash('sha256', token)}, stepped_up_at = ${steppedUpAt}
      where id = ${sessionId} and user_id = ${userId}`,
  );
  if (renewed === 0) throw stepUpRequired();
  return token;
}

/**
 * When a step-up of this time ends; undefined for one that has ended, and for one
 * that was noted by a clock that ran ahead: it would count until that time has come.
 */
export function stepUpEnd(steppedUpAt: Date | null, now: Date): Date | undefined {
  if (!steppedUpAt || steppedUpAt > after(now, CLOCKS_DIFFER_MS)) return undefined;
  const end = after(steppedUpAt, STEP_UP_MS);
  return end > now ? end : undefined;
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
      stepped_up_at: string | null;
    }>({
      name: 'find-session',
      text: `select s.id, s.user_id, u.merchant_id, s.last_seen_at <= $5 as is_due,
               s.stepped_up_at,
               m.subscription_active and (m.subscription_until is null
                 or m.subscription_until > $2) as subscribed
             from sessions s join users u on u.id = s.user_id join merchants m on m.id = u.merchant_id
             where s.token_hash = $1
               and s.last_seen_at > $3 and s.created_at > $4 and s.last_seen_at <= $6
               and u.removed_at is null`,
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
      steppedUpAt: row.stepped_up_at === null ? null : new Date(row.stepped_up_at),
    };
  };
}

/**
 * Whether the session is there still. A request is let in by its headers, and may bring its body, or wait for
 * somebody else, much later: what it changes asks again, in the transaction of the change.
 */
export async function isSignedIn(
  em: Em,
  { sessionId, userId }: Pick<SessionOwner, 'sessionId' | 'userId'>,
): Promise<boolean> {
  const session = sql`select 1 from sessions where id = ${sessionId} and user_id = ${userId}`;
  return (await firstRow(em, session)) !== undefined;
}

/**
 * Ends the sessions that these tokens open at once, of the first ten at most. A token without a session is no
 * error.
 */
export async function endSessions(em: Em, tokens: readonly string[]): Promise<void> {
  const good = tokens.filter((token) => TOKEN_SHAPE.test(token)).slice(0, MAX_ENDED_AT_ONCE);
  for (const token of good)
    await run(em, sql`delete from sessions where token_hash = ${hash('sha256', token)}`);
}

/** Ends every session of a user, but for the one that is kept, inside the caller's transaction. */
export async function endSessionsOf(em: Em, userId: string, kept?: string): Promise<void> {
  await run(
    em,
    sql`delete from sessions where user_id = ${userId} and id is distinct from ${kept ?? null}::uuid`,
  );
}

/**
 * Removes what has ended: sessions, budgets of attempts, links, and addresses that nobody used for a year. At
 * most 5,000 rows of each.
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

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}
