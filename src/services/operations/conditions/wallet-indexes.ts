import { readWalletIndexes } from '../../merchants/wallet-indexes.ts';
import type { ConditionKind } from './condition.ts';

/** Left out above what is known: more than one key makes in a day at the usual rate. */
const GAP = 10_000_000;

/** The next customer gets an index above every one that was given: an address is never given twice. */
export const walletIndexes: ConditionKind = {
  name: 'wallet_indexes',
  read: async (deps) => {
    const { next, highest } = await readWalletIndexes(deps.orm.em.fork());
    if (next > highest)
      return {
        found: [],
        well: { wallet_indexes: `the next customer gets ${next}; the highest given is ${highest}` },
      };
    return {
      found: [
        {
          key: 'wallet_indexes',
          severity: 'critical',
          check: 'wallet_indexes',
          reason: `the next index is ${next}, which is not above ${highest}: no customer can be made`,
          action: `type as the owner of the database, and see "doctor" afterwards: select setval('wallet_index_seq', ${highest + GAP})`,
        },
      ],
    };
  },
};
