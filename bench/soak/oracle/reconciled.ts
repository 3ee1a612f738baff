import type { Network } from '../../../src/domain/assets.ts';
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

/**
 * The gateway's own comparison of balances finds nothing, but for the wallets out of which
 * the run itself spent (network and address), where something may be missing.
 */
export function compareReconciled(
  { left, refused }: Pick<Reconciled, 'left' | 'refused'>,
  spenders: readonly string[],
): Difference[] {
  const rule = 'balances agree with the ledger';
  const found: Difference[] = refused === undefined ? [] : [{ rule, subject: 'reconcile', detail: refused }];
  for (const { network, address, currency, difference, reason } of left)
    if (!spenders.includes(`${network} ${addressAs(network, address)}`) || !difference.startsWith('-'))
      found.push({ rule, subject: placeKey(network, address, currency), detail: `${difference}: ${reason}` });
  return found;
}
