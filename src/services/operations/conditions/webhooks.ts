import { firstRow, sql } from '../../../db/sql.ts';
import type { ConditionKind } from './condition.ts';

/** A due delivery is tried within seconds, and at a busy receiver within a minute or two. */
const OVERDUE_AFTER_MS = 5 * 60_000;
const COUNTED = 10_000;

export const webhooks: ConditionKind = {
  name: 'webhooks',
  label: 'webhooks',
  well: 'each is tried when it is due',
  namedBy: '"webhook list --status pending"',
  read: async (deps) => {
    const now = deps.now().getTime();
    const row = await firstRow(
      deps.orm.em.fork(),
      sql<{
        count: number;
        oldest: string | null;
      }>`select count(*)::int as count, min(at)::text as oldest from (
        select next_attempt_at as at from webhook_deliveries where status = 'pending'
          and next_attempt_at <= ${new Date(now - OVERDUE_AFTER_MS)} order by next_attempt_at limit ${COUNTED}
        ) d`,
    );
    if (!row?.oldest) return { found: [] };
    const lateS = Math.floor((now - new Date(row.oldest).getTime()) / 1_000);
    const reason = `${row.count} webhooks were not tried when they were due, the oldest for ${lateS} s`;
    const action =
      'see that a worker runs ("doctor"), then run "repair"; "webhook list" shows whether they are all of one slow receiver';
    return { found: [{ key: 'webhooks', severity: 'critical', count: row.count, reason, action }] };
  },
};
