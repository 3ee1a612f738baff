import type { Network } from '../../../src/domain/assets.ts';
import { OWN_WALLET } from '../plan/plan.ts';
import type { Customer } from '../stage.ts';
import type { Difference } from './compare.ts';
import { addressAs, placeKey } from './truth.ts';

/** One balance that the gateway says does not agree with its ledger. */
export type BalanceDifference = {
  readonly network: Network;
  readonly address: string;
  readonly currency: string;
  readonly difference: string;
  readonly reason: string;
};

export type Reconciled = {
  /** What the last comparison still lists. */
  readonly left: readonly BalanceDifference[];
  /** Why it could not compare, where it could not. */
  readonly refused: string | undefined;
  /** Deposits that only the comparison of balances found, and those that needed the operator's word. */
  readonly found: number;
  readonly claimed: number;
};

/** The addresses that the run itself spends from, each with its network before it. */
export function spendersOf(customers: readonly Customer[]): string[] {
  return customers
    .filter((customer) => customer.number === OWN_WALLET)
    .flatMap(({ addresses }) => Object.entries(addresses).map((entry) => entry.join(' ')));
}

/** Whether this is money that the run itself has spent, as only a payout would: no fault. */
export function isOwnSpending(
  { network, address, difference }: BalanceDifference,
  spenders: readonly string[],
): boolean {
  return spenders.includes(`${network} ${addressAs(network, address)}`) && difference.startsWith('-');
}

/** The gateway's own comparison of balances finds nothing but what the run itself has spent. */
export function compareReconciled(
  { left, refused }: Pick<Reconciled, 'left' | 'refused'>,
  spenders: readonly string[],
): Difference[] {
  const rule = 'balances agree with the ledger';
  const found: Difference[] = refused === undefined ? [] : [{ rule, subject: 'reconcile', detail: refused }];
  for (const one of left)
    if (!isOwnSpending(one, spenders))
      found.push({
        rule,
        subject: placeKey(one.network, one.address, one.currency),
        detail: `${one.difference}: ${one.reason}`,
      });
  return found;
}
