import { listForeign } from '../../payouts/foreign.ts';
import { type ConditionKind, listed } from './condition.ts';

/** Transactions of our wallets that this gateway did not sign. */
export const wallet: ConditionKind = {
  name: 'wallet',
  label: 'wallets',
  well: 'none of ours was used by anybody else',
  group: 'wallets',
  read: async (deps) => ({
    found: (await listForeign(deps)).map((row) =>
      listed(row, { key: `wallet:${row.network}:${row.transaction_hash}`, severity: 'critical' }),
    ),
  }),
};
