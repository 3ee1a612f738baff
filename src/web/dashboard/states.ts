import type { DeliveryView } from '../../contract/event.ts';
import type { DepositState } from '../../domain/deposit.ts';
import type { LinkStatus } from '../../domain/payment-link.ts';
import type { PayoutState } from '../../domain/settlement.ts';
import type { Html } from '../html.ts';
import { badge } from '../parts/badge.ts';
import type { Tone } from '../parts/notice.ts';

type Words<State extends string> = Readonly<Record<State, readonly [tone: Tone, words: string]>>;

const DEPOSITS: Words<DepositState> = {
  detected: ['info', 'Seen'],
  confirming: ['info', 'Confirming'],
  completed: ['good', 'Completed'],
  settled: ['good', 'Paid out'],
  failed: ['bad', 'Failed'],
};

const LINKS: Words<LinkStatus> = {
  pending: ['plain', 'Not paid yet'],
  processing: ['info', 'Confirming'],
  partially_paid: ['warn', 'Partly paid'],
  completed: ['good', 'Paid'],
  expired: ['plain', 'Expired'],
  cancelled: ['plain', 'Cancelled'],
};

const PAYOUTS: Words<PayoutState> = {
  planned: ['plain', 'Planned'],
  paying: ['info', 'On its way'],
  settled: ['good', 'Paid'],
  cancelled: ['plain', 'Given up'],
  failed: ['bad', 'Failed'],
};

const DELIVERIES: Words<DeliveryView['status']> = {
  pending: ['info', 'On its way'],
  succeeded: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
};

/** A deposit's state in a word or two. */
export function depositBadge(state: DepositState): Html {
  return badge(...DEPOSITS[state]);
}

/** How far a payout is, in a word or two. */
export function payoutBadge(state: PayoutState): Html {
  return badge(...PAYOUTS[state]);
}

/** A payment link's status in a word or two. */
export function linkBadge(status: LinkStatus): Html {
  return badge(...LINKS[status]);
}

/** How far a delivery is, in a word or two. */
export function deliveryBadge(status: DeliveryView['status']): Html {
  return badge(...DELIVERIES[status]);
}

/** The choices of a filter by the state of a deposit; the first is every one. */
export const DEPOSIT_STATE_CHOICES = choices(DEPOSITS);

/** The choices of a filter by the state of a payout; the first is every one. */
export const PAYOUT_STATE_CHOICES = choices(PAYOUTS);

/** The choices of a filter by the status of a link; the first is every one. */
export const LINK_STATUS_CHOICES = choices(LINKS);

/** The choices of a filter by the status of a delivery; the first is every one. */
export const DELIVERY_STATUS_CHOICES = choices(DELIVERIES);

function choices(words: Words<string>) {
  const states = Object.entries(words).map(([value, [, label]]) => ({ value, label }));
  return [{ value: '', label: 'Any' }, ...states];
}
