import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import { isOpenLink } from '../../domain/payment-link.ts';
import type { Deps } from '../../services/deps.ts';
import { TOKEN_PATTERN } from '../../services/payment-links/create.ts';
import { getPublicPayments } from '../../services/payment-links/public.ts';
import { changedLinks } from '../../services/payment-links/versions.ts';
import type { Followed } from '../live/followed.ts';
import { isAwaited, isOver } from './state.ts';
import { pickedWay } from './ways.ts';

/** Payment links, as their payers follow them. */
export function followedLinks(deps: Deps): Followed<PublicPaymentView> {
  return {
    what: 'payment link',
    token: TOKEN_PATTERN,
    read: (tokens) => getPublicPayments(deps, tokens),
    changed: (versions) => changedLinks(deps, versions),
    isLive,
    isOver: hasTurned,
    codes: ({ methods, is_live }, network) => {
      const way = pickedWay(methods, network);
      return way ? [way.address, ...(is_live ? [way.payment_uri] : [])] : [];
    },
  };
}

/**
 * With its time the ways to pay end, which are there until its last moment, and what is said where there is
 * none; some time later nothing is awaited any more.
 */
function hasTurned(view: PublicPaymentView, now: number): boolean {
  return (
    (isOver(view, now) && (view.methods.length > 0 || !isOver(view))) ||
    (isAwaited(view) && !isAwaited(view, now))
  );
}

/**
 * Whether anything about the link is still to be expected: it is open, it ended a short while ago and money
 * may come too late for it, or money that came for it waits for its confirmations.
 */
export function isLive(
  view: Pick<
    PublicPaymentView,
    'status' | 'server_time' | 'expires_at' | 'transactions' | 'late_transactions'
  >,
): boolean {
  const { status, transactions, late_transactions: late } = view;
  const waits = [...transactions, ...late].some((row) => WAITING_STATES.includes(row.status));
  return isOpenLink(status) || isAwaited(view) || waits;
}
