import { ANN_ON_TRON, SPENT_FROM } from '../world.ts';
import { at, type Fault, set } from './spoil.ts';

/** One chain taken for the other, or forgotten beside it. */
export const CHAIN_FAULTS: readonly Fault[] = [
  ['loses a deposit on Tron', 'one deposit for each transfer', ({ deposits }) => void deposits.A.pop()],
  [
    'puts a deposit of Tron on BNB Chain',
    'no deposit without a transfer',
    ({ deposits }) => set(at(deposits.A, 3), { network: 'bsc' }),
  ],
  [
    'counts a token with the decimals of another chain',
    "a deposit's amount_raw",
    ({ deposits }) => set(at(deposits.A, 3), { amount_raw: String(8n * 10n ** 18n) }),
  ],
  [
    'writes an address of Tron in small letters',
    'one deposit for each transfer',
    ({ deposits }) => set(at(deposits.A, 3), { address: ANN_ON_TRON.toLowerCase() }),
  ],
  [
    'announces a completion on the wrong network',
    'deposit.completed only for a transfer in a canonical block',
    (records) => {
      const completed = [...(records.seen.get('slow')?.values() ?? [])].filter(
        ({ data }) => data['network'] === 'tron',
      );
      set(at(completed, 0).data, { network: 'bsc' });
    },
  ],
  [
    'gives money of Tron to another customer',
    "a deposit's customer_id",
    ({ deposits }) => set(at(deposits.A, 3), { customer_id: 'customer-2' }),
  ],
  [
    'books the money of one network on the other',
    'the ledger equals the chain',
    ({ accounts }) => {
      for (const row of accounts) if (row.network === 'tron') row.network = 'bsc';
    },
  ],
  [
    'balances only over both networks',
    'the ledger sums to zero',
    ({ accounts }) =>
      set(
        at(
          accounts.filter((row) => row.network === 'tron' && row.account === 'chain'),
          0,
        ),
        {
          network: 'bsc',
        },
      ),
  ],
  [
    'books a deposit of Tron under the other network',
    "a deposit's ledger equals the chain",
    ({ depositAccounts }) => {
      for (const row of depositAccounts) if (row.network === 'tron') row.network = 'bsc';
    },
  ],
  [
    'forgets an unknown token on Tron',
    'what is never credited is kept for the operator',
    ({ setAside }) => void setAside.pop(),
  ],
  [
    'finds a balance that differs on Tron',
    'balances agree with the ledger',
    ({ reconciled }) =>
      void reconciled.left.push({
        network: 'tron',
        address: ANN_ON_TRON,
        currency: 'TRX',
        difference: '-1',
        reason: '',
      }),
  ],
  [
    'misses money on a network on which the run spent none',
    'balances agree with the ledger',
    ({ reconciled }) => set(at(reconciled.left, 0), { network: 'tron', address: SPENT_FROM }),
  ],
  [
    'was paid on Tron in a way that the oracle does not see',
    'the oracle reads the chain as the chain does',
    ({ holdings }) => set(at(holdings, 2), { coinUnits: 1n }),
  ],
];
