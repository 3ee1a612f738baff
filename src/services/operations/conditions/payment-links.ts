import { countOverdueLinks, listOverdueLinks } from '../../payment-links/overdue.ts';
import { type ConditionKind, listed } from './condition.ts';

export const paymentLinks: ConditionKind = {
  name: 'payment_links',
  label: 'payment_links',
  well: 'none is overdue',
  group: 'payment_links',
  read: async (deps) => ({
    found: (await listOverdueLinks(deps)).map((row) => {
      const subject = `payment link ${row.payment_link_id} is ${row.state}, and its time is over`;
      return listed(row, { key: `payment_links:${row.payment_link_id}`, severity: 'warning', subject });
    }),
  }),
  sum: async (deps) => {
    const count = await countOverdueLinks(deps);
    return {
      count,
      reason: `${count} payment links should have ended long ago`,
      action: 'run "deposit stuck"',
    };
  },
};
