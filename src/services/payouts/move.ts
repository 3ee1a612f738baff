import type { Payout } from '../../db/entities/index.ts';
import { mayMovePayout, type PayoutState } from '../../domain/settlement.ts';
import type { TxDeps } from '../deps.ts';

/** A step that the table of payouts does not know: a defect, or two writers at once. Nothing was changed. */
export class IllegalPayoutStep extends Error {
  override readonly name = 'IllegalPayoutStep';
}

/**
 * Moves a payout that the caller's transaction holds locked. Throws {@link IllegalPayoutStep} where the table
 * does not allow it.
 */
export function movePayout(
  deps: Pick<TxDeps, 'now'>,
  payout: Payout,
  to: PayoutState,
  reason: string | null = null,
): void {
  if (!mayMovePayout(payout.state, to))
    throw new IllegalPayoutStep(`payout ${payout.id} cannot go from ${payout.state} to ${to}`);
  const now = deps.now();
  Object.assign(payout, { state: to, stateSince: now, updatedAt: now, reason });
}
