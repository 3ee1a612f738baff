import type { DepositState, FailureCode } from './deposit.ts';

/**
 * The accounts of the double-entry ledger. `chain` is the outside world: it goes down when money comes in. `held` is money that lies
 * on our addresses but belongs to a failed deposit: visible, releasable by an operator, never swept.
 */
export const LEDGER_ACCOUNTS = ['chain', 'pending', 'available', 'settled', 'held'] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

export type Posting = { readonly account: LedgerAccount; readonly amountUnits: bigint };

/**
 * From where to where a deposit's money moves with a transition; undefined where nothing moves (detected → confirming). `onChain` is
 * false while the deposit's block is replaced: a deposit that fails then has nothing on our address that could be held.
 */
export function postingsOf(input: {
  from: DepositState | null;
  to: DepositState;
  failureCode: FailureCode | null;
  amountUnits: bigint;
  onChain?: boolean;
}): readonly Posting[] {
  return between(movement(input.from, input.to, input.failureCode, input.onChain ?? true), input.amountUnits);
}

/**
 * What a failed deposit's held money does when its block is replaced (`gone`: back to the chain, because it is on no address of ours any
 * more) and when its transaction is mined again (`back`). Between the two the ledger says what the chain says: nothing.
 */
export function heldPostings(happened: 'gone' | 'back', amountUnits: bigint): readonly Posting[] {
  return between(happened === 'gone' ? ['held', 'chain'] : ['chain', 'held'], amountUnits);
}

type Movement = readonly [from: LedgerAccount, to: LedgerAccount];

function between(move: Movement | undefined, amountUnits: bigint): readonly Posting[] {
  if (!move) return [];
  return [
    { account: move[0], amountUnits: -amountUnits },
    { account: move[1], amountUnits },
  ];
}

function movement(from: DepositState | null, to: DepositState, code: FailureCode | null, onChain: boolean): Movement | undefined {
  if (to === 'detected') return ['chain', 'pending'];
  if (to === 'confirming') return undefined;
  if (to === 'settled') return ['available', 'settled'];
  if (to === 'completed') return [from === 'failed' ? 'held' : 'pending', 'available'];
  // Into failed: a reorged deposit's money never arrived, every other failed deposit's money lies on our address.
  return [from === 'completed' ? 'available' : 'pending', code === 'REORGED' || !onChain ? 'chain' : 'held'];
}
