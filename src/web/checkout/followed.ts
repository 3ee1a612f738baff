import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import { isOpenLink } from '../../domain/payment-link.ts';
import type { Deps } from '../../services/deps.ts';
import { TOKEN_PATTERN } from '../../services/payment-links/create.ts';
import { getPublicPayments } from '../../services/payment-links/public.ts';
import { changedLinks } from '../../services/payment-links/versions.ts';
import type { Followed } from '../live/followed.ts';

/** Payment links, as their payers follow them. */
export function followedLinks(deps: Deps): Followed<PublicPaymentView> {
  return {
    what: 'payment link',
    token: TOKEN_PATTERN,
    read: (tokens) => getPublicPayments(deps, tokens),
    changed: (versions) => changedLinks(deps, versions),
    isLive,
    // The ways to pay that it shows end with its time.
    isOver: (view, now) => view.methods.length > 0 && now > Date.parse(view.expires_at),
  };
}

/**
 * Whether anything about the link can still change: it is open, or it was closed while money that belongs to
 * it waits for its confirmations, or money that came too late and was mined once more.
 */
export function isLive({
  status,
  transactions,
  late_transactions: late,
}: Pick<PublicPaymentView, 'status' | 'transactions' | 'late_transactions'>): boolean {
  const waits = [...transactions, ...late].some((row) => WAITING_STATES.includes(row.status));
  return isOpenLink(status) || waits;
}
