// Notices tell what holds to a receiver of the operator's: they are one row for each condition.
import { Notice } from '../../db/entities/index.ts';
import { run, sql } from '../../db/sql.ts';
import { fitted } from '../../domain/text.ts';
import type { Deps } from '../deps.ts';
import { type Condition, type ConditionKind, sentenceOf } from './conditions/condition.ts';
import { readKinds } from './conditions/conditions.ts';

/** A condition of a kind, by its name. */
export type Noticed = Condition & { readonly kind: string };

/** What holds at present, and which kinds could not be read: of those nothing is over. */
export type AllNoticed = { readonly found: readonly Noticed[]; readonly unread: readonly string[] };

/** More of one kind than this are told as one: nobody reads a thousand messages. */
const MOST_OF_A_KIND = 20;

/** Reads every kind. That one could not be read is told like any other condition. Never throws. */
export async function readNoticed(deps: Deps): Promise<AllNoticed> {
  const all = await readKinds(deps);
  const found = all.flatMap(({ kind, found, unread }): Noticed[] =>
    unread
      ? [{ ...unread, kind: 'unread' }]
      : bounded(kind, found).map((condition) => ({ ...condition, kind: kind.name })),
  );
  const unread = all.flatMap((one) => (one.unread ? one.kind.name : []));
  return { found, unread };
}

function bounded(
  { name, namedBy = '"deposit stuck" and "doctor"' }: ConditionKind,
  all: readonly Condition[],
): readonly Condition[] {
  const [first] = all;
  if (!first || all.length <= MOST_OF_A_KIND) return all;
  const more = {
    key: `${name}:more`,
    severity: first.severity,
    // Not how many: some are read no further than to a limit.
    reason: `there are more than ${MOST_OF_A_KIND} of these, and the others are not told one by one`,
    action: `run ${namedBy}, which names all of them`,
  };
  return [...all.slice(0, MOST_OF_A_KIND), more];
}

/** What comes and goes by itself is no notice. */
export type Damping = {
  /** For how long a condition has to hold before it is told. */
  readonly beginAfterMs: number;
  /** For how long it has to be gone before its end is told. */
  readonly endAfterMs: number;
};
export const DAMPING: Damping = { beginAfterMs: 30_000, endAfterMs: 2 * 60_000 };

const MAX_KEY = 200;
const MAX_SENTENCE = 1_000;
const KEPT_MS = 90 * 86_400_000;

/**
 * Brings the rows of notices in line with what holds: one row for each condition from its first sight to its
 * end. What ends before it was ever told of is told as one notice where it had begun, and forgotten where it
 * had not.
 */
export async function noteConditions(
  deps: Deps,
  { found, unread }: AllNoticed,
  { beginAfterMs, endAfterMs }: Damping = DAMPING,
): Promise<void> {
  const em = deps.orm.em.fork();
  const now = deps.now();
  const before = (ms: number): Date => new Date(now.getTime() - ms);
  for (const one of found)
    await run(
      em,
      sql`insert into notices as n (id, key, kind, severity, reason, action, seen_at, last_seen_at)
        values (${deps.newId()}, ${fitted(one.key, MAX_KEY)}, ${one.kind}, ${one.severity},
          ${fitted(sentenceOf(one), MAX_SENTENCE)}, ${fitted(one.action, MAX_SENTENCE)}, ${now}, ${now})
        on conflict (key) where ended_at is null do update set severity = excluded.severity,
          reason = excluded.reason, action = excluded.action,
          last_seen_at = greatest(n.last_seen_at, excluded.last_seen_at)`,
    );
  await run(
    em,
    sql`update notices set began_at = seen_at, next_try_at = ${now}
      where began_at is null and ended_at is null and last_seen_at >= ${now}
        and seen_at <= ${before(beginAfterMs)}`,
  );
  const gone = sql`ended_at is null and last_seen_at <= ${before(endAfterMs)} and kind <> all(${[...unread]})
    and key <> all(${found.map(({ key }) => fitted(key, MAX_KEY))})`;
  await run(em, sql`delete from notices where ${gone} and began_at is null`);
  await run(
    em,
    sql`update notices set ended_at = greatest(last_seen_at, began_at), next_try_at = ${now}, tries = 0
      where ${gone} and began_at is not null`,
  );
  await run(em, sql`delete from notices where ended_at < ${before(KEPT_MS)} and ended_told_at is not null`);
}

/** So many may want the same one at once. */
const MOST_WORKERS = 20;
/** Longer than it takes to tell one. */
const CLAIM_MS = 60_000;
const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 15 * 60_000;

/** A notice that is to be told now. */
export type Due = { readonly notice: Notice; readonly what: 'began' | 'ended' };

/**
 * Takes the oldest of what is to be told, so that no other worker tells it for a minute; undefined where
 * there is nothing. A notice whose end came before its beginning could be told is told once, as one that is
 * over.
 */
export async function takeDue(deps: Deps): Promise<Due | undefined> {
  const em = deps.orm.em.fork();
  const now = deps.now();
  const due = await em.find(
    Notice,
    { nextTryAt: { $lte: now } },
    { orderBy: { nextTryAt: 'asc', id: 'asc' }, limit: MOST_WORKERS },
  );
  for (const notice of due) {
    const claimed = await run(
      em,
      sql`update notices set next_try_at = ${new Date(now.getTime() + CLAIM_MS)}
        where id = ${notice.id} and next_try_at = ${notice.nextTryAt} and tries = ${notice.tries}`,
    );
    if (claimed === 1) return { notice, what: notice.endedAt == null ? 'began' : 'ended' };
  }
  return undefined;
}

/**
 * Notes that the receiver has it; or why it does not and when it is tried again, unless it was told since.
 */
export async function noteTried(
  deps: Deps,
  { notice, what }: Due,
  refused: string | undefined,
): Promise<void> {
  const now = deps.now();
  const waitMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(notice.tries, 10));
  const told =
    what === 'began'
      ? sql`update notices set began_told_at = ${now}, tries = 0, last_error = null,
          next_try_at = case when ended_at is not null and ended_told_at is null then ${now}::timestamptz end
          where id = ${notice.id} and began_told_at is null`
      : sql`update notices set ended_told_at = ${now}, tries = 0, last_error = null, next_try_at = null
          where id = ${notice.id}`;
  const untold = sql`update notices set tries = tries + 1, last_error = ${fitted(refused ?? '', 300)},
      next_try_at = ${new Date(now.getTime() + waitMs)}
      where id = ${notice.id} and ended_told_at is null
        and (${what}::text = 'ended' or began_told_at is null)`;
  await run(deps.orm.em.fork(), refused === undefined ? told : untold);
}
