import { firstRow, type Statement, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';

/**
 * A due delivery is tried within seconds; one that waits
 * for a place at a busy receiver, within a minute or two.
 */
const OVERDUE_AFTER_MS = 5 * 60_000;
const COUNTED = 10_000;

/**
 * Deliveries whose attempt has been due for more than five minutes without
 * being made: how many, at most 10,000, and how late the oldest is.
 */
export async function readOverdueDeliveries(
  deps: Pick<Deps, 'orm' | 'now'>,
): Promise<{ readonly count: number; readonly oldestMs: number }> {
  const now = deps.now();
  const row = await firstRow(
    deps.orm.em.fork(),
    overdueDeliveries(new Date(now.getTime() - OVERDUE_AFTER_MS)),
  );
  return { count: row?.n ?? 0, oldestMs: row?.oldest ? now.getTime() - new Date(row.oldest).getTime() : 0 };
}

/** The statement of {@link readOverdueDeliveries}, for deliveries that were due before a time. */
export function overdueDeliveries(before: Date): Statement<{ n: number; oldest: string | null }> {
  return sql`select count(*)::int as n, min(at)::text as oldest from (
    select next_attempt_at as at from webhook_deliveries
    where status = 'pending' and next_attempt_at <= ${before} order by next_attempt_at limit ${COUNTED}
  ) d`;
}
