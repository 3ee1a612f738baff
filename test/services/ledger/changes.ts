// What somebody may change by hand in the books, and what an audit finds of it.
import { UNITS } from './every-state.ts';

type Found = readonly [check: string, account: string | null, expected: bigint, found: bigint];
/** What somebody changes of a deposit's rows, and all that is found of that deposit then. */
type Change = readonly [of: string, sql: (id: unknown, payoutId: unknown) => string, ...found: Found[]];

/** The lines of a deposit's postings, as a condition. */
export const linesOf = (id: unknown) =>
  `transaction_id in (select id from ledger_transactions where deposit_id = '${id}')`;
const deposit =
  (change: string) =>
  (id: unknown): string =>
    `update deposits set ${change} where id = '${id}'`;
const payout =
  (change: string) =>
  (_: unknown, id: unknown): string =>
    `update payouts set ${change} where id = '${id}'`;
const twoMore = deposit('amount_units = amount_units + 2');
const heldNow = (id: unknown): string =>
  `update ledger_entries set account = 'held' where account = 'chain' and amount_units > 0 and ${linesOf(id)}`;
/** A payout that pays nobody. */
export const UNPAID = 'net_units = null, fee_units = null, transaction_hash = null, settled_at = null';

/** By what is told of the deposit then. */
export const CHANGES: Readonly<Record<string, Change>> = {
  'more than the ledger holds, detected': ['detected', twoMore, ['deposit', 'pending', UNITS + 2n, UNITS]],
  'more than that, confirming': ['confirming', twoMore, ['deposit', 'pending', UNITS + 2n, UNITS]],
  'more than that, completed': ['completed', twoMore, ['deposit', 'available', UNITS + 2n, UNITS]],
  'more than that, held': ['held', twoMore, ['deposit', 'held', UNITS + 2n, UNITS]],
  'more than that, below the minimum': ['below minimum', twoMore, ['deposit', 'held', 5n, 3n]],
  'more than that, released': ['released', twoMore, ['deposit', 'available', UNITS + 2n, UNITS]],
  'more than was paid out and its fee': ['settled', twoMore, ['deposit', 'fees', 2n, 0n]],
  'money that is held although its block is gone': ['withdrawn', heldNow, ['deposit', 'held', 0n, UNITS]],
  'money that is held and was never there': ['reorged', heldNow, ['deposit', 'held', 0n, UNITS]],
  'a block again, without its money being held': [
    'withdrawn',
    deposit(`block_hash = '0x1'`),
    ['deposit', 'held', UNITS, 0n],
  ],
  'a settlement without its posting': [
    'completed',
    deposit(`status = 'settled'`),
    ['deposit', 'settled', UNITS, 0n],
    ['deposit', 'available', 0n, UNITS],
    ['payout', 'settled', UNITS, 0n],
  ],
  'a completion without its credit': [
    'confirming',
    deposit(`status = 'completed'`),
    ['deposit', 'available', UNITS, 0n],
    ['deposit', 'pending', 0n, UNITS],
    ['credit', null, 1n, 0n],
  ],
  'a posting whose lines do not sum to zero': [
    'detected',
    (id) =>
      `update ledger_entries set amount_units = amount_units - 1 where account = 'chain' and ${linesOf(id)}`,
    ['posting', null, 0n, -1n],
  ],
  'no lines': [
    'completed',
    (id) => `delete from ledger_entries where ${linesOf(id)}`,
    ['deposit', 'available', UNITS, 0n],
    ['credit', null, 1n, 0n],
  ],
  'no payout that it belongs to': [
    'settled',
    deposit('payout_id = null, settled_units = null, settlement_fee_units = null'),
    ['payout', 'settled', UNITS, 0n],
  ],
  'a payout that is not settled': [
    'settled',
    payout(`state = 'paying', ${UNPAID}`),
    ['payout', 'settled', UNITS, 0n],
  ],
  'a payout of another address': [
    'settled',
    payout(`address_key = 'another'`),
    ['payout', 'settled', UNITS, 0n],
  ],
  'a payout on another network': ['settled', payout(`network = 'tron'`), ['payout', 'settled', UNITS, 0n]],
};

/** Changes what was sent for a payout. */
export const sent = (change: string) => (id: unknown) =>
  `update sent_transactions set ${change} where payout_id = '${id}'`;
/** What somebody changes of a payout, and all that is found then. */
export const PAYOUTS: Readonly<Record<string, readonly [sql: (id: unknown) => string, ...found: Found[]]>> = {
  'more than its deposits': [
    (id) => payout('gross_units = gross_units + 2, net_units = net_units + 2')(id, id),
    ['payout', null, UNITS + 2n, UNITS],
    ['payout', 'settled', UNITS + 2n, UNITS],
    ['payout', 'chain', UNITS + 2n, UNITS],
  ],
  'another fee': [(id) => payout('fee_units = fee_units + 2')(id, id), ['payout', 'fees', 9n, 7n]],
  'another transaction': [
    (id) => payout(`transaction_hash = 'another'`)(id, id),
    ['payout', 'chain', UNITS, 0n],
  ],
  'two payments': [
    (id) => `insert into sent_transactions select (jsonb_populate_record(s, jsonb_build_object(
      'id', gen_random_uuid(), 'hash', 'again', 'attempt', 2))).* from sent_transactions s
      where payout_id = '${id}' and attempt = 1`,
    ['payout', 'chain', UNITS, 2n * UNITS],
  ],
  'a payment that no block shows': [
    sent(`state = 'sent', block_hash = null, block_number = null, ok = null, verified_at = null,
      fee_units = null, moves = null`),
    ['payout', 'chain', UNITS, 0n],
  ],
};
