import { rows, type Statement, sql } from '../../db/sql.ts';
import type { ActorMessage } from '../../domain/actor-message.ts';
import type { Deps } from '../deps.ts';

/** The most that is taken or read at once. */
export const BATCH = 100;
/** If the process that took a row dies, others try the row after this long. */
const LEASE_MS = 10_000;

/** A message that this process may perform until its lease is over. */
export type Taken = { id: string; workflowId: string; message: ActorMessage; tries: number };

/**
 * Each kind has an index of its own, in this order: whatever lies in
 * the outbox, the first ones that are due are found without the others.
 */
const KINDS = {
  fresh: sql`quarantined_at is null and tries = 0 and mode = 'live'`,
  tried: sql`quarantined_at is null and tries > 0 and mode = 'live'`,
  test: sql`quarantined_at is null and mode = 'test'`,
  seldom: sql`quarantined_at is not null`,
} as const;

/** Among so many of the oldest messages of test mode merchants take turns. */
const TURNS_AMONG = 1_000;

/** The statement that takes the oldest messages of a kind that are due, by a lease. */
export function takeSql(kind: keyof typeof KINDS, limit: number, now: Date): Statement<Taken> {
  const due = sql`${KINDS[kind]} and next_try_at <= ${now}`;
  if (kind === 'test') return leaseSql(now, inTurns(due, limit));
  return leaseSql(now, idsWhere(sql`${due} order by next_try_at, id limit ${limit}`));
}

/**
 * Starts of test mode are slow by intent: a drill of one merchant has no other one wait for all of it, but
 * for what is beyond the oldest thousand. What another process takes is passed over for the next in turn.
 */
const inTurns = (due: Statement<unknown>, limit: number): Statement<unknown> => sql`
  select id from outbox join (
    select one, row_number() over (partition by owner order by since, one) as turn
    from (select id as one, next_try_at as since, message #>> '{owner,merchantId}' as owner from outbox
      where ${due} order by next_try_at, id limit ${TURNS_AMONG}) oldest
  ) turns on id = one
  where ${due} order by turn, next_try_at, id limit ${limit} for update of outbox skip locked`;

/** The statement that takes the next messages of the quarantine, due or not, with ids above `after`. */
export function takePageSql(after: string, now: Date): Statement<Taken> {
  return leaseSql(now, idsWhere(sql`${KINDS.seldom} and id > ${after} order by id limit ${BATCH}`));
}

/**
 * Takes the oldest messages of a kind that are due, of test mode as merchants take turns, in the order in
 * which they were written.
 */
export async function take(deps: Deps, kind: keyof typeof KINDS, limit: number): Promise<Taken[]> {
  return inOrder(await rows(deps.orm.em.fork(), takeSql(kind, limit, deps.now())));
}

/** Takes the next page of the quarantine, in the order in which it was written. */
export async function takePage(deps: Deps, after: string): Promise<Taken[]> {
  return inOrder(await rows(deps.orm.em.fork(), takePageSql(after, deps.now())));
}

const idsWhere = (which: Statement<unknown>): Statement<unknown> =>
  sql`select id from outbox where ${which} for update skip locked`;

function leaseSql(now: Date, ids: Statement<unknown>): Statement<Taken> {
  return sql`
    update outbox set next_try_at = ${new Date(now.getTime() + LEASE_MS)}
    where id in (${ids})
    returning id::text as id, workflow_id, message, tries`;
}

const inOrder = (taken: Taken[]): Taken[] =>
  taken.sort((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
