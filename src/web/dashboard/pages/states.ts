import type { DeliveryView } from '../../../contract/event.ts';
import type { DepositState } from '../../../domain/deposit.ts';
import type { LinkStatus } from '../../../domain/payment-link.ts';
import type { PayoutState } from '../../../domain/settlement.ts';
import type { Html } from '../../html.ts';
import { badge } from '../../parts/badge.ts';
import type { Tone } from '../../parts/notice.ts';
import { anyOf } from '../fields.ts';

/** The states of a deposit, in a word or two. */
export const DEPOSIT = wordsOf<DepositState>({
  detected: ['info', 'Seen'],
  confirming: ['info', 'Confirming'],
  completed: ['good', 'Completed'],
  settled: ['good', 'Paid out'],
  failed: ['bad', 'Failed'],
});

/** The statuses of a payment link. */
export const LINK = wordsOf<LinkStatus>({
  pending: ['plain', 'Not paid yet'],
  processing: ['info', 'Confirming'],
  partially_paid: ['warn', 'Partly paid'],
  completed: ['good', 'Paid'],
  expired: ['plain', 'Expired'],
  cancelled: ['plain', 'Cancelled'],
});

/** The states of a payout. */
export const PAYOUT = wordsOf<PayoutState>({
  planned: ['plain', 'Planned'],
  paying: ['info', 'On its way'],
  settled: ['good', 'Paid'],
  cancelled: ['plain', 'Given up'],
  failed: ['bad', 'Failed'],
});

/** How far a delivery is. */
export const DELIVERY = wordsOf<DeliveryView['status']>({
  pending: ['info', 'On its way'],
  succeeded: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
});

/** A badge for each state, and the choices of a filter by it. */
function wordsOf<State extends string>(words: Readonly<Record<State, readonly [tone: Tone, label: string]>>) {
  const choices = Object.entries<readonly [Tone, string]>(words).map(([value, [, label]]) => ({
    value,
    label,
  }));
  const badgeOf = (state: State): Html => {
    const [tone, label] = words[state];
    return badge(tone, label);
  };
  return { badge: badgeOf, choices: anyOf(choices) };
}
