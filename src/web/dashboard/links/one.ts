import { chainOf } from '../../../chains/index.ts';
import type { EndpointView } from '../../../contract/endpoint.ts';
import type { PaymentLinkView } from '../../../contract/payment-link.ts';
import { isOpenLink } from '../../../domain/payment-link.ts';
import { type PaymentLinkStory, paymentLinkStory } from '../../../services/payment-links/story.ts';
import { foreign, type Html, html } from '../../html.ts';
import { usd } from '../../parts/amount.ts';
import { card } from '../../parts/card.ts';
import { copyable } from '../../parts/copyable.ts';
import { notice } from '../../parts/notice.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { qrCode } from '../../qr.ts';
import { depositColumns } from '../deposit-columns.ts';
import { lastAnswer } from '../endpoints/list.ts';
import { factList, metadataOf } from '../facts.ts';
import { crumb, heading } from '../heading.ts';
import { linkBadge } from '../states.ts';
import type { ReadPage, Visit } from '../visit.ts';
import { titleOf } from './list.ts';
import { standOf } from './words.ts';

/** One payment link: how it stands, its address for the payer, and what has paid it. */
export const LINK_PAGE: ReadPage = {
  path: '/links/:id',
  show: async (visit) => {
    const { deps, scope, params, door, to } = visit;
    const story = await door.readList(scope.merchantId, (deps) =>
      paymentLinkStory(deps, { ...scope, id: params['id'] ?? '' }),
    );
    const { link: view } = story;
    const stand = standOf(view, deps.now());
    return {
      title: 'Payment link',
      body: html`${crumb(to('/links'), 'Payment links')}${heading(html`${titleOf(view)} ${linkBadge(view.status)}`, actions(visit, view))}
${notice(stand.tone, stand)}
<div class="grid">
${forPayer(view)}
${card(facts(visit, story), { id: 'facts', title: 'The link' })}
</div>
${payments(visit, story)}`,
    };
  },
};

function actions({ to, mode }: Visit, view: PaymentLinkView): Html {
  const { customer_id, token, remaining_amount_usd: missing } = view;
  if (!isOpenLink(view.status))
    return html`<a class="button quiet" href="${to('/links/new', { customer_id })}">New link for this customer</a>`;
  const simulate = to('/simulate', { customer_id, payment_token: token, amount: missing });
  return html`${mode === 'test' ? html`<a class="button quiet" href="${simulate}">Simulate a payment</a>` : null}
<a class="button quiet" href="${to(`/links/${view.id}/cancel`)}">Cancel the link</a>`;
}

function forPayer({ url, status }: PaymentLinkView): Html {
  const body = html`<p>${copyable(url, { id: 'link-url', name: 'address for the payer' })}</p>
${qrCode(url, 'QR code of the address for the payer')}
<p><a href="${url}">Open the page of the payer</a></p>`;
  const title = isOpenLink(status) ? 'Send this to the payer' : 'The page of the payer';
  return card(body, { id: 'payer', title });
}

function facts({ to }: Visit, { link: view, own_endpoint: own }: PaymentLinkStory): Html {
  return factList([
    ['Asked for', usd(view.amount_usd)],
    ['Confirmed', usd(view.paid_amount_usd)],
    ['Missing', usd(view.remaining_amount_usd)],
    ['Paid too much', view.overpaid_amount_usd > 0 ? usd(view.overpaid_amount_usd) : null],
    [
      'Customer',
      html`<a href="${to(`/customers/${view.customer_id}`)}">${view.email === null ? 'Look at the customer' : foreign(view.email)}</a>`,
    ],
    [
      'Description',
      view.description === null ? null : html`<span class="lines">${foreign(view.description)}</span>`,
    ],
    ['Your reference', optional(view.external_id)],
    ['Made', time(view.created_at)],
    ['Can be paid until', time(view.expires_at)],
    ['Paid', view.completed_at === null ? null : time(view.completed_at)],
    ['Paid on', view.paid_network === null ? null : chainOf(view.paid_network).label],
    ['After the payment', optional(view.success_url)],
    ['Instead of paying', optional(view.cancel_url)],
    ['Own webhook', own === null ? null : ownWebhook(own, to(`/links/${view.id}/deliveries`))],
    ['Metadata', metadataOf(view.metadata)],
    ['Id', copyable(view.id, { id: 'link-id', name: 'id' })],
    ['Token', copyable(view.token, { id: 'link-token', name: 'token' })],
  ]);
}

function ownWebhook(own: EndpointView, log: string): Html {
  return html`${foreign(own.url)}<br>${lastAnswer(own)}<br><a href="${log}">What was sent to it</a>`;
}

/** Addresses of the merchant's are shown and not linked: what they lead to is nobody's business here. */
function optional(text: string | null): Html | null {
  return text === null ? null : foreign(text);
}

function payments(visit: Visit, { deposits }: PaymentLinkStory): Html {
  const { rows, total, totalIsAtLeast } = deposits;
  const more = `These are the latest ${rows.length} of ${totalIsAtLeast ? 'more than ' : ''}${total}.`;
  const body =
    rows.length === 0
      ? html`<p class="muted">Nothing has arrived yet. It stands here a moment after it was sent.</p>`
      : html`${table('Payments, the latest first', depositColumns(visit), rows)}
${deposits.hasMore ? html`<p class="muted">${more}</p>` : null}`;
  return card(body, { id: 'payments', title: 'Payments' });
}
