import { hex } from '../parts.ts';
import { GONE } from '../world.ts';
import { at, type Fault, find, forget, of, set } from './spoil.ts';

/** Deposits and the events that tell of them, held against the chain. */
export const DEPOSIT_FAULTS: readonly Fault[] = [
  ['loses a deposit', 'one deposit for each transfer', ({ deposits }) => void deposits.A.shift()],
  [
    'doubles a deposit',
    'one deposit for each transfer',
    ({ deposits }) => void deposits.A.push({ ...at(deposits.A, 0), id: 'twin' }),
  ],
  [
    'invents a deposit',
    'no deposit without a transfer',
    ({ deposits }) => void deposits.A.push({ ...at(deposits.A, 0), transaction_hash: hex('7') }),
  ],
  [
    'keeps what was replaced',
    'no deposit without a transfer',
    ({ deposits }) => set(at(deposits.A, 2), { status: 'completed' }),
  ],
  [
    'withdraws what is in a block',
    'no deposit without a transfer',
    ({ truth }) => void truth.transactions.add(GONE),
  ],
  [
    'credits another amount',
    "a deposit's amount_raw",
    ({ deposits }) => set(at(deposits.A, 0), { amount_raw: '1' }),
  ],
  [
    'never completes one',
    "a deposit's status",
    ({ deposits }) => set(at(deposits.A, 0), { status: 'confirming' }),
  ],
  [
    'completes what is below the minimum',
    "a deposit's status",
    ({ deposits }) => set(at(deposits.A, 1), { status: 'completed' }),
  ],
  [
    'fails for another reason',
    "a deposit's failure_code",
    ({ deposits }) => set(at(deposits.A, 1), { failure_code: 'MONTHLY_LIMIT' }),
  ],
  [
    'stays at a replaced block',
    "a deposit's block_hash",
    ({ deposits }) => set(at(deposits.A, 0), { block_hash: hex('66') }),
  ],
  [
    'has another height',
    "a deposit's block_number",
    ({ deposits }) => set(at(deposits.A, 0), { block_number: 8 }),
  ],
  [
    'gives it to another customer',
    "a deposit's customer_id",
    ({ deposits }) => set(at(deposits.A, 0), { customer_id: 'customer-2' }),
  ],
  [
    'loses an event',
    "a deposit's events all arrive, one for each sequence",
    (records) => forget(records, 'healthy-a', find(records, 'healthy-a', 'deposit.confirming').eventId),
  ],
  [
    'sends an event twice under two ids',
    "a deposit's events all arrive, one for each sequence",
    (records) => {
      const twin = { ...find(records, 'healthy-a', 'deposit.completed'), eventId: 'twin' };
      records.seen.get('healthy-a')?.set('twin', twin);
    },
  ],
  [
    'tells of a completion before its detection',
    'events follow the life of a deposit',
    (records) => {
      const [first, last] = [
        find(records, 'healthy-a', 'deposit.detected'),
        find(records, 'healthy-a', 'deposit.completed'),
      ];
      [first.data['sequence'], last.data['sequence']] = [3, 1];
    },
  ],
  [
    'turns the clock back',
    'time rises with the sequence',
    (records) => {
      find(records, 'healthy-a', 'deposit.confirming').timestamp = '2025-12-31T23:59:59Z';
    },
  ],
  [
    'keeps silent about the last state',
    'the last event is the last state',
    ({ deposits }) => set(at(deposits.A, 0), { status: 'settled' }),
  ],
  [
    'tells another amount',
    'the event carries the amount',
    (records) => set(find(records, 'healthy-a', 'deposit.completed').data, { amount_raw: '1' }),
  ],
  [
    'tells of a deposit that is none',
    'no event about an unknown deposit',
    (records) => set(find(records, 'healthy-a', 'deposit.completed').data, { id: 'nobody' }),
  ],
  [
    'announces the completion of an orphan',
    'deposit.completed only for a transfer in a canonical block',
    (records) => {
      const orphan = at(
        of(records, 'flaky').filter(
          (one) => one.data['transaction_hash'] === GONE && one.event === 'deposit.failed',
        ),
        0,
      );
      orphan.event = 'deposit.completed';
    },
  ],
  [
    'announces a completion in a replaced block',
    'deposit.completed only for a transfer in a canonical block',
    (records) => set(find(records, 'slow', 'deposit.completed').data, { block_hash: hex('66') }),
  ],
  [
    'announces the completion of another amount',
    'deposit.completed only for a transfer in a canonical block',
    (records) => set(find(records, 'slow', 'deposit.completed').data, { amount_raw: '1' }),
  ],
];
