// What happened to a deposit, in words for its merchant.

import type { DepositState, FailureCode } from '../../../domain/deposit.ts';
import type { LedgerAccount } from '../../../domain/ledger.ts';

const ENTERED: Readonly<Record<Exclude<DepositState, 'failed'>, string>> = {
  detected: 'Seen on the chain.',
  confirming: 'The first block came on top of it.',
  completed: 'Final, read a second time and credited.',
  settled: 'Paid out to the withdraw address.',
};

const FAILED: Readonly<Record<FailureCode, string>> = {
  MONTHLY_LIMIT: 'Not credited: the limit of the month was reached. The money is held.',
  REORGED: 'Its block was replaced, and no final block holds the transaction: no money arrived.',
  BELOW_MINIMUM: 'Not credited: the amount is below the smallest deposit. The money is held.',
  REJECTED_BY_OPERATOR: 'Not credited: the operator of the gateway has rejected it.',
};

export type Entered = {
  readonly from: DepositState | null;
  readonly to: DepositState;
  readonly failureCode: FailureCode | null;
  readonly byOperator: boolean;
};

/** What it means that a deposit came into a state. */
export function enteredWords({ from, to, failureCode, byOperator }: Entered): string {
  if (to === 'failed') {
    if (from === 'completed') return 'Withdrawn after it was credited: its block was replaced.';
    return failureCode === null ? 'Failed.' : FAILED[failureCode];
  }
  if (from === 'failed' && to === 'detected') return 'Its transaction was mined again.';
  if (from === 'failed' && byOperator) return 'Released by the operator of the gateway, and credited.';
  return ENTERED[to];
}

const ACCOUNTS: Readonly<Record<LedgerAccount, string>> = {
  chain: 'outside: from or to the chain',
  pending: 'pending: arrived, not final yet',
  available: 'available: yours, not paid out yet',
  settled: 'settled: paid out to you',
  fees: 'fees: what the payout cost',
  held: 'held: arrived, and not credited',
  shortfall: 'shortfall: paid out, and taken back by the chain',
};

/** What an account of the ledger holds. */
export const accountWords = (account: LedgerAccount): string => ACCOUNTS[account];
