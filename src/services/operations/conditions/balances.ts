import { countDifferences } from '../../reconciliation/pass.ts';
import { conditionOf, watchedStandstills } from './chain.ts';
import type { Condition, ConditionKind } from './condition.ts';

/** The comparison of the chain with the ledger: what differs, and where it does not go on. */
export const balances: ConditionKind = {
  name: 'balances',
  label: 'balances',
  well: 'the comparison with the chain goes on, and nothing differs',
  group: 'chains',
  namedBy: '"reconcile"',
  read: async (deps) => {
    const count = await countDifferences(deps);
    const standing = (await watchedStandstills(deps)).filter(({ part }) => part === 'reconciliation');
    const difference: Condition = {
      key: 'balances',
      severity: 'critical',
      count,
      reason: `${count} ${count === 1 ? 'balance differs' : 'balances differ'} from the ledger`,
      action: 'run "reconcile", which names the addresses',
    };
    const stands = standing.map((one) => ({
      ...conditionOf(one),
      key: `balances:${one.network}`,
      urgent: false,
    }));
    return { found: count > 0 ? [difference, ...stands] : stands };
  },
};
