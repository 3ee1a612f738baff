import type { DepositState, FailureCode } from './deposit.ts';

/**
 * The accounts of the double-entry ledger. `chain` is the outside world: it
 * goes down when money comes in. `held` is money that lies on our addresses but
 * belongs to a failed deposit: visible, releasable by an operator, never swept.
 */
export const LEDGER_ACCOUNTS = ['chain', 'pending', 'available', 'settled', 'held'] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

export type Posting = { readonly account: LedgerAccount; readonly amountUnits: bigint };

/**
 * The account that a deposit's money leaves and the one it enters with a transition; undefined where nothing
 * moves (detected → confirming). `onChain` is false while the deposit's block is replaced: a deposit that
 * fails then has nothing on our address that could be held.
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
 * What a failed deposit's held money does when its block is replaced (`gone`: back to the account `chain`,
 * because it is on none of our addresses any more) and when its transaction is mined again (`back`). Between
 * the two the ledger says what the chain says: nothing.
 */
export function heldPostings(happened: 'gone' | 'back', amountUnits: bigint): readonly Posting[] {
  return between(happened === 'gone' ? ['held', 'chain'] : ['chain', 'held'], amountUnits);
}

/**
 * The one account that holds the whole amount of a deposit while it is in a state; `chain` where none of the
 * money is with us: it never arrived, or is in no block at present (`onChain` false) without being credited.
 */
export function accountOf(deposit: {
  state: DepositState;
  failureCode: FailureCode | null;
  onChain: boolean;
}): LedgerAccount {
  const { state, failureCode, onChain } = deposit;
  if (state === 'failed') return failureCode === 'REORGED' || !onChain ? 'chain' : 'held';
  return HOMES[state];
}

const HOMES = {
  detected: 'pending',
  confirming: 'pending',
  completed: 'available',
  settled: 'settled',
} as const;

type Movement = readonly [from: LedgerAccount, to: LedgerAccount];

function between(move: Movement | undefined, amountUnits: bigint): readonly Posting[] {
  if (!move) return [];
  return [
    { account: move[0], amountUnits: -amountUnits },
    { account: move[1], amountUnits },
  ];
}

function movement(
  from: DepositState | null,
  to: DepositState,
  code: FailureCode | null,
  onChain: boolean,
): Movement | undefined {
  const target = accountOf({ state: to, failureCode: code, onChain });
  const source =
    from === null
      ? 'chain'
      : from === 'failed'
        ? accountBefore(to)
        : accountOf({ state: from, failureCode: null, onChain });
  return source === target ? undefined : [source, target];
}

/**
 * Where a failed deposit's money was before it came back: only a reorged deposit is
 * detected again, and only a held one is released.
 */
function accountBefore(to: DepositState): LedgerAccount {
  return to === 'detected' ? 'chain' : 'held';
}
