import type { DepositState, FailureCode } from './deposit.ts';

/**
 * The accounts of the double-entry ledger. `chain` is the outside world: it goes down when money comes in.
 * `held` is money that lies on our addresses but belongs to a failed deposit: visible, releasable by an
 * operator, never paid out. `fees` is the part of a coin that its own payout cost. `shortfall` is below zero
 * by what was paid out for deposits that the chain has taken back since: a loss, shown where it arose.
 */
export const LEDGER_ACCOUNTS = [
  'chain',
  'pending',
  'available',
  'settled',
  'fees',
  'held',
  'shortfall',
] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

export type Posting = { readonly account: LedgerAccount; readonly amountUnits: bigint };

/**
 * How much of a deposit an account holds: the `whole` of it, the `net` that was paid out, the `fee` that was
 * taken from it, or the whole as a `loss`, below zero.
 */
export type Part = 'whole' | 'net' | 'fee' | 'loss';

/** Where a deposit stands in its life and on the chain; `onChain` is false while its block is replaced. */
export type Standing = {
  readonly state: DepositState;
  readonly failureCode: FailureCode | null;
  readonly onChain: boolean;
};

/** `settledUnits`: what was paid out for it, null while nothing was. */
export type Amounts = { readonly amountUnits: bigint; readonly settledUnits?: bigint | null };

/**
 * What each of our accounts holds for a deposit; `chain` is the other side of all of it. Nothing for one
 * that never arrived, or that is in no block at present without being credited. What was paid out stays so
 * whatever the chain says afterwards: the loss stands beside it.
 */
export function partsOf({
  state,
  failureCode,
  onChain,
}: Standing): readonly (readonly [LedgerAccount, Part])[] {
  switch (state) {
    case 'detected':
    case 'confirming':
      return [['pending', 'whole']];
    case 'completed':
      return [['available', 'whole']];
    case 'settled':
      return [['settled', 'net'], ['fees', 'fee'], ...(onChain ? [] : [['shortfall', 'loss'] as const])];
    case 'failed':
      return failureCode === 'REORGED' || !onChain ? [] : [['held', 'whole']];
  }
}

/** Whether the ledger says that a deposit's money came in from the chain. */
export function cameIn(standing: Standing): boolean {
  return partsOf(standing).length > 0 && (standing.onChain || standing.state !== 'settled');
}

/**
 * What a deposit's money does in the ledger with a transition; empty where nothing moves (detected →
 * confirming). A deposit that fails while its block is replaced has nothing on our address that could be
 * held.
 */
export function postingsOf(
  step: Amounts & {
    readonly from: DepositState | null;
    readonly to: DepositState;
    readonly failureCode: FailureCode | null;
    readonly onChain?: boolean;
  },
): readonly Posting[] {
  const { from, to, failureCode, onChain = true } = step;
  return between(
    from === 'failed'
      ? afterFailure(to, step)
      : holdings(from && { state: from, failureCode: null, onChain }, step),
    holdings({ state: to, failureCode, onChain }, step),
  );
}

/**
 * What the ledger says when a deposit's block is replaced (`gone`) and when its transaction is mined again
 * (`back`). Money of a failed deposit goes back to the account `chain`, so that the ledger says what the
 * chain says: nothing; money that was paid out becomes a shortfall. What is not decided yet stays as it is.
 */
export function replacedPostings(
  happened: 'gone' | 'back',
  deposit: Amounts & Pick<Standing, 'state' | 'failureCode'>,
): readonly Posting[] {
  const [bound, replaced] = [true, false].map((onChain) => holdings({ ...deposit, onChain }, deposit));
  return happened === 'gone' ? between(bound, replaced) : between(replaced, bound);
}

type Holdings = ReadonlyMap<LedgerAccount, bigint>;

function holdings(standing: Standing | null, amounts: Amounts): Holdings {
  return new Map(
    standing ? partsOf(standing).map(([account, part]) => [account, unitsOf(part, amounts)]) : [],
  );
}

/** Only a reorged deposit is detected again, and it held nothing; only a held one is released. */
function afterFailure(to: DepositState, { amountUnits }: Amounts): Holdings {
  return new Map(to === 'detected' ? [] : [['held', amountUnits]]);
}

function unitsOf(part: Part, { amountUnits, settledUnits }: Amounts): bigint {
  const net = settledUnits ?? amountUnits;
  return { whole: amountUnits, net, fee: amountUnits - net, loss: -amountUnits }[part];
}

function between(before: Holdings = new Map(), after: Holdings = new Map()): readonly Posting[] {
  const moved = LEDGER_ACCOUNTS.map((account) => ({
    account,
    amountUnits: (after.get(account) ?? 0n) - (before.get(account) ?? 0n),
  })).filter(({ amountUnits }) => amountUnits !== 0n);
  const toUs = moved.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);
  const all = toUs === 0n ? moved : [{ account: 'chain' as const, amountUnits: -toUs }, ...moved];
  // Whoever gives comes before whoever gets.
  const gives = ({ amountUnits }: Posting): boolean => amountUnits < 0n;
  return [...all.filter(gives), ...all.filter((posting) => !gives(posting))];
}
