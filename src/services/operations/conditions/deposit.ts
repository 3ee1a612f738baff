import { countStuck, listStuck } from '../../deposits/stuck.ts';
import { type ConditionKind, listed } from './condition.ts';

/** How much it is about and whose merchant will ask is told too; the customer's name goes to no chat tool. */
export const deposit: ConditionKind = {
  name: 'deposit',
  label: 'deposits',
  well: 'none is stuck',
  group: 'stuck',
  read: async (deps) => ({
    found: (await listStuck(deps)).map(({ what, ...row }) => {
      const subject = `deposit ${row.deposit_id} of ${what} on ${row.network} is ${row.state}`;
      return listed(row, { key: `deposit:${row.deposit_id}`, severity: 'critical', subject });
    }),
  }),
  sum: async (deps) => {
    const count = await countStuck(deps);
    return { count, reason: `${count} deposits do not go on by themselves`, action: 'run "deposit stuck"' };
  },
};
