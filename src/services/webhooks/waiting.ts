import { rows, type Statement, sql } from '../../db/sql.ts';
import { MODES, type Mode } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';

/** Webhooks of one mode whose next attempt is due, and for how long the first of them has been due. */
export type DueDeliveries = { readonly mode: Mode; readonly count: number; readonly oldestMs: number };

/**
 * Registered endpoints of one mode. `mostFailures`: the most
 * failed attempts in a row among those that are enabled.
 */
export type UnwellEndpoints = {
  readonly mode: Mode;
  readonly failing: number;
  readonly disabled: number;
  readonly mostFailures: number;
};

const COUNTED = 10_000;

/** The statement of {@link readDueDeliveries}, for deliveries that were due before a time. */
export function dueDeliveries(before: Date): Statement<{ mode: Mode; count: number; oldest: string }> {
  return sql`select case when test then 'test' else 'live' end as mode, count(*)::int as count,
    min(at)::text as oldest from (
    select next_attempt_at as at, test_merchant_id is not null as test from webhook_deliveries
    where status = 'pending' and next_attempt_at <= ${before} order by next_attempt_at limit ${COUNTED}
  ) d group by 1`;
}

/**
 * Endpoints that merchants switched off themselves, and those
 * that single payment links bring along, are no sign of trouble.
 */
export const UNWELL_ENDPOINTS = sql<{
  mode: Mode;
  failing: number;
  disabled: number;
  most: number;
}>`select mode, count(*) filter (where enabled)::int as failing, count(*)
    filter (where not enabled)::int as disabled,
    coalesce(max(consecutive_failures) filter (where enabled), 0) as most from (
    select mode, enabled, consecutive_failures from webhook_endpoints
      where payment_link_id is null and deleted_at is null
      and (failing_since is not null or disabled_reason is not null)
      and (enabled or disabled_reason is not null) limit ${COUNTED}
  ) e group by 1`;

/**
 * What has been due for this long, by mode; of all modes together at most the 10,000 that have been due
 * longest are counted.
 */
export async function readDueDeliveries(
  deps: Pick<Deps, 'orm' | 'now'>,
  forMs = 0,
): Promise<DueDeliveries[]> {
  const now = deps.now();
  const due = await rows(deps.orm.em.fork(), dueDeliveries(new Date(now.getTime() - forMs)));
  return MODES.map((mode) => {
    const row = due.find((one) => one.mode === mode);
    return {
      mode,
      count: row?.count ?? 0,
      oldestMs: row ? Math.max(0, now.getTime() - new Date(row.oldest).getTime()) : 0,
    };
  });
}

/**
 * Registered endpoints that fail or were disabled by the gateway,
 * by mode; at most 10,000 of all modes together are counted.
 */
export async function readUnwellEndpoints(deps: Pick<Deps, 'orm'>): Promise<UnwellEndpoints[]> {
  const unwell = await rows(deps.orm.em.fork(), UNWELL_ENDPOINTS);
  return MODES.map((mode) => {
    const row = unwell.find((one) => one.mode === mode);
    return { mode, failing: row?.failing ?? 0, disabled: row?.disabled ?? 0, mostFailures: row?.most ?? 0 };
  });
}
