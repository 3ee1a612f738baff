import { listStuckPayouts, readOverduePayouts, SEE_TO_IT } from '../../payouts/stuck.ts';
import { type ConditionKind, listed } from './condition.ts';

export const payout: ConditionKind = {
  name: 'payout',
  label: 'payouts',
  well: 'none waits for a person',
  group: 'stuck',
  read: async (deps) => ({
    found: (await listStuckPayouts(deps)).map((row) => {
      const subject = `${row.address} on ${row.network} is not paid out`;
      return listed(row, { key: `payout:${row.network}:${row.address}`, severity: 'critical', subject });
    }),
  }),
  sum: async (deps) => {
    const { alarmed, leftAlone, first } = await readOverduePayouts(deps);
    const told = [
      ...(alarmed > 0 ? [`${alarmed} addresses are not paid out, the first ${first}`] : []),
      ...(leftAlone > 0 ? [`nobody looks after ${leftAlone} payouts that are under way`] : []),
    ];
    const action = leftAlone > 0 ? SEE_TO_IT : 'run "deposit stuck", which names all of them';
    return { count: alarmed + leftAlone, reason: told.join('; '), action };
  },
};
