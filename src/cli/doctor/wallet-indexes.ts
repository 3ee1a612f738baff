import { bad, type Finding, good } from '../../base/finding.ts';
import type { Em } from '../../db/orm.ts';
import { readWalletIndexes } from '../../services/merchants/wallet-indexes.ts';
import { hasTable } from './tables.ts';

/** Left out above what is known: more than one key makes in a day at the usual rate. */
const GAP = 10_000_000;

/**
 * Whether the next customer gets an index above every one that was given: an address is never given twice.
 * No check before the schema exists, nor while a restore has not made the sequence.
 */
export async function checkWalletIndexes(em: Em): Promise<Finding[]> {
  if (!(await hasTable(em, 'wallet_index_seq'))) return [];
  const { next, highest } = await readWalletIndexes(em);
  if (next > highest)
    return [good('wallet_indexes', `the next customer gets ${next}; the highest given is ${highest}`)];
  return [
    bad(
      'wallet_indexes',
      `the next one is ${next}, which is not above ${highest}: no customer can be made`,
      `As the owner of the database: select setval('wallet_index_seq', ${highest + GAP})`,
    ),
  ];
}
