import type { DepositState, FailureCode } from './deposit.ts';

/**
 * The accounts of the double-entry ledger. `chain` is the outside world: it goes down when money comes in. `held` is money that lies
 * on our addresses but belongs to a failed deposit: visible, releasable by an operator, never swept.
 */
export const LEDGER_ACCOUNTS = ['chain', 'pending', 'available', 'settled', 'held'] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

export type Posting = { readonly account: LedgerAccount; readonly amountUnits: bigint };

/** From where to where a deposit's money moves with a transition; undefined where nothing moves (detected → confirming). */
export function postingsOf(input: {
  from: DepositState | null;
  to: DepositState;
  failureCode: FailureCode | null;
  amountUnits: bigint;
}): readonly Posting[] {
  const move = movement(input.from, input.to, input.failureCode);
  if (!move) return [];
  return [
    { account: move[0], amountUnits: -input.amountUnits },
    { account: move[1], amountUnits: input.amountUnits },
  ];
}

function movement(
  from: DepositState | null,
  to: DepositState,
  code: FailureCode | null,
): readonly [LedgerAccount, LedgerAccount] | undefined {
  if (to === 'detected') return ['chain', 'pending'];
  if (to === 'confirming') return undefined;
  if (to === 'settled') return ['available', 'settled'];
  if (to === 'completed') return [from === 'failed' ? 'held' : 'pending', 'available'];
  // Into failed: a reorged deposit's money never arrived, every other failed deposit's money lies on our address.
  return [from === 'completed' ? 'available' : 'pending', code === 'REORGED' ? 'chain' : 'held'];
}
