import { createHash } from 'node:crypto';
import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import { isOpenLink } from '../../domain/payment-link.ts';
import { plainText } from '../html.ts';
import type { PayerPages, Visitor } from '../visitor.ts';

/** A page of a payment link as its script takes it over: what the page itself would show at this moment. */
export type Rendering = {
  /** The entity tag of what is shown; the time at which it was made is no part of it. */
  readonly tag: string;
  /** The whole as JSON: `title`, `main`, `server_time` and `open`. */
  readonly json: string;
  /** False when nothing about the link can change any more. */
  readonly open: boolean;
};

/** The page of this view for this visitor. */
export function renderingOf(
  render: PayerPages['render'],
  view: PublicPaymentView,
  visitor: Visitor,
): Rendering {
  const page = render(view, visitor);
  const [title, main, open] = [plainText(page.title), page.body.markup, isLive(view)];
  // The text of a countdown is another one each second, and the script counts by itself.
  const lasting = main.replace(/(<time [^>]*data-until="[^"]*">)[^<]*/g, '$1');
  return {
    tag: `"${createHash('sha256').update(`${open} ${title}\n${lasting}`).digest('base64url')}"`,
    json: JSON.stringify({ title, main, server_time: view.server_time, open }),
    open,
  };
}

/**
 * Whether anything about the link can still change: it is open, or it was closed while money that belongs to
 * it waits for its confirmations.
 */
export function isLive(view: Pick<PublicPaymentView, 'status' | 'transactions'>): boolean {
  return isOpenLink(view.status) || view.transactions.some(({ status }) => WAITING_STATES.includes(status));
}
