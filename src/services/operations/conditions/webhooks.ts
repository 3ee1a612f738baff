import { readDueDeliveries } from '../../webhooks/waiting.ts';
import type { ConditionKind } from './condition.ts';

/** A due delivery is tried within seconds, and at a busy receiver within a minute or two. */
const OVERDUE_AFTER_MS = 5 * 60_000;

export const webhooks: ConditionKind = {
  name: 'webhooks',
  label: 'webhooks',
  well: 'each is tried when it is due',
  read: async (deps) => {
    const overdue = await readDueDeliveries(deps, OVERDUE_AFTER_MS);
    const count = overdue.reduce((sum, mode) => sum + mode.count, 0);
    if (count === 0) return { found: [] };
    const lateS = Math.floor(Math.max(...overdue.map(({ oldestMs }) => oldestMs)) / 1_000);
    const reason = `${count} webhooks were not tried when they were due, the oldest for ${lateS} s`;
    const action =
      'see that a worker runs ("doctor"), then run "repair"; "webhook list" shows whether they are all of one slow receiver';
    return { found: [{ key: 'webhooks', severity: 'critical', count, reason, action }] };
  },
};
