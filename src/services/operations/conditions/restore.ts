import { openRestore, unknownSinceRestore } from '../../restores/hold.ts';
import { type ConditionKind, shownTime } from './condition.ts';

/** Payouts that are held since a restore, and what is still unknown. */
export const restore: ConditionKind = {
  name: 'restore',
  read: async (deps) => {
    const em = deps.orm.em.fork();
    const open = await openRestore(em);
    if (!open) return { found: [] };
    const unknown = await unknownSinceRestore(em, deps.settings.payments.watchedNetworks, open);
    const since = `payouts are held since the restore of ${shownTime(open.restoredAt)}`;
    const isKnown = unknown.length === 0;
    return {
      found: [
        {
          key: 'restore',
          severity: 'warning',
          check: 'restore',
          reason: isKnown ? `${since}, and everything since is known` : `${since}: ${unknown.join('; ')}`,
          action: isKnown
            ? 'let them go on with "payout resume"'
            : 'do what it says ("doctor" has all of it), in this order; then "payout resume"',
        },
      ],
    };
  },
};
