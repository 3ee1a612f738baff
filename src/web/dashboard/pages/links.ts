import { chainOf } from '../../../chains/index.ts';
import type { EndpointView } from '../../../contract/endpoint.ts';
import { type PaymentLinkView, paymentLinkQuery } from '../../../contract/payment-link.ts';
import { isOpenLink } from '../../../domain/payment-link.ts';
import {
  cancelPaymentLink,
  getPaymentLink,
  listPaymentLinks,
} from '../../../services/payment-links/index.ts';
import { type PaymentLinkStory, paymentLinkStory } from '../../../services/payment-links/story.ts';
import { foreign, type Html, html } from '../../html.ts';
import { usd } from '../../parts/amount.ts';
import { copyable } from '../../parts/copyable.ts';
import { emptyState } from '../../parts/empty.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';
import { qrCode } from '../../qr.ts';
import { detail } from '../detail.ts';
import { BY_DAY, exact, SEARCH, select, text } from '../fields.ts';
import { form } from '../form.ts';
import { list } from '../list.ts';
import {
  type Action,
  copyOf,
  facts,
  heading,
  metadataOf,
  nothing,
  type Rows,
  tableOf,
  textOf,
  timeOf,
  when,
} from '../pieces.ts';
import type { Visit } from '../visit.ts';
import { deliveryLog } from './deliveries.ts';
import { OWN_DEPOSIT_ROWS } from './deposits.ts';
import { lastAnswer } from './endpoints.ts';
import { standOf } from './link-words.ts';
import { LINK } from './states.ts';

/** What a list says of each link. */
export const LINK_ROWS: Rows<PaymentLinkView> = {
  link: ({ id }) => `/links/${id}`,
  columns: [
    { head: 'For', cell: titleOf },
    { head: 'Amount', end: true, cell: (row) => usd(row.amount_usd) },
    { head: 'State', cell: ({ status }) => LINK.badge(status) },
    {
      head: 'Customer',
      cell: ({ email, customer_id: id }, { to }) =>
        html`<a href="${to(`/customers/${id}`)}">${textOf(email, `${id.slice(0, 8)}…`)}</a>`,
    },
    { head: 'Made', end: true, cell: (row) => time(row.created_at) },
  ],
};

const LINKS = list({
  path: '/links',
  title: 'Payment links',
  noun: ['payment link', 'payment links'],
  query: paymentLinkQuery,
  load: listPaymentLinks,
  rows: LINK_ROWS,
  filters: [
    text('search', 'Search', SEARCH, 'Description, reference, email'),
    select('status', 'State', LINK.choices),
    text('customer_id', 'Customer id', exact(36)),
    text('external_id', 'Your reference', exact(255)),
    ...BY_DAY,
  ],
  actions: [{ path: '/links/new', label: 'New payment link' }],
  csv: (input) => ({ list: 'links', input }),
  empty: {
    title: 'No payment links yet',
    text: 'A payment link is a page where one customer pays one amount. You send its address.',
    way: ['/links/new', 'Make the first one'],
  },
});

/** More of a description than this is for its own page. */
const TITLE_LENGTH = 80;

/** What a link is for: its description, else the merchant's reference; in short. */
function titleOf({ description, external_id: reference }: PaymentLinkView): Html {
  const letters = [...(description ?? reference ?? 'Payment link')];
  return foreign(letters.slice(0, TITLE_LENGTH).join('') + (letters.length > TITLE_LENGTH ? '…' : ''));
}

const LINK_PAGE = detail({
  path: '/links/:id',
  back: ['/links', 'Payment links'],
  load: ({ named, inTurn }) => inTurn((deps) => paymentLinkStory(deps, named)),
  title: 'Payment link',
  heading: ({ link }) => html`${titleOf(link)} ${LINK.badge(link.status)}`,
  actions: ({ link }) => actions(link),
  sections: (story, visit) => {
    const { link, deposits } = story;
    const stand = standOf(link, visit.deps.now());
    return [
      notice(stand.tone, stand),
      [
        {
          id: 'payer',
          title: isOpenLink(link.status) ? 'Send this to the payer' : 'The page of the payer',
          body: html`<p>${copyable(link.url, { id: 'link-url', name: 'address for the payer' })}</p>
${qrCode(link.url, 'QR code of the address for the payer')}
<p><a href="${link.url}">Open the page of the payer</a></p>`,
        },
        { id: 'facts', title: 'The link', body: about(visit, story) },
      ],
      { id: 'payments', title: 'Payments', body: payments(visit, deposits) },
    ];
  },
});

function actions({
  id,
  customer_id,
  token,
  status,
  remaining_amount_usd: amount,
}: PaymentLinkView): Action[] {
  const another = { path: '/links/new', query: { customer_id }, label: 'New link for this customer' };
  if (!isOpenLink(status)) return [{ ...another, quiet: true }];
  const query = { customer_id, payment_token: token, amount };
  return [
    { path: '/simulate', query, label: 'Simulate a payment', quiet: true, only: 'test' },
    { path: `/links/${id}/cancel`, label: 'Cancel the link', quiet: true },
  ];
}

function about({ to }: Visit, { link: view, own_endpoint: own }: PaymentLinkStory): Html {
  const { customer_id: customer, paid_network: paidOn } = view;
  const ownWebhook = (endpoint: EndpointView) =>
    html`${foreign(endpoint.url)}<br>${lastAnswer(endpoint)}<br><a href="${to(`/links/${view.id}/deliveries`)}">What was sent to it</a>`;
  return facts([
    ['Asked for', usd(view.amount_usd)],
    ['Confirmed', usd(view.paid_amount_usd)],
    ['Missing', usd(view.remaining_amount_usd)],
    ['Paid too much', view.overpaid_amount_usd > 0 ? usd(view.overpaid_amount_usd) : null],
    [
      'Customer',
      html`<a href="${to(`/customers/${customer}`)}">${textOf(view.email, 'Look at the customer')}</a>`,
    ],
    ['Description', when(view.description, (said) => html`<span class="lines">${foreign(said)}</span>`)],
    ['Your reference', textOf(view.external_id)],
    ['Made', time(view.created_at)],
    ['Can be paid until', time(view.expires_at)],
    ['Paid', timeOf(view.completed_at)],
    ['Paid on', paidOn && chainOf(paidOn).label],
    // Addresses of the merchant's are shown and not linked: what they lead to is nobody's business here.
    ['After the payment', textOf(view.success_url)],
    ['Instead of paying', textOf(view.cancel_url)],
    ['Own webhook', when(own, ownWebhook)],
    ['Metadata', metadataOf(view.metadata)],
    ['Id', copyOf(view.id, 'link-id', 'id')],
    ['Token', copyOf(view.token, 'link-token', 'token')],
  ]);
}

function payments(visit: Visit, deposits: PaymentLinkStory['deposits']): Html {
  const { rows, total, totalIsAtLeast, hasMore } = deposits;
  if (rows.length === 0)
    return nothing('Nothing has arrived yet. It stands here a moment after it was sent.');
  const more = `These are the latest ${rows.length} of ${totalIsAtLeast ? 'more than ' : ''}${total}.`;
  return html`${tableOf(visit, 'Payments, the latest first', OWN_DEPOSIT_ROWS, rows)}
${hasMore ? nothing(more) : null}`;
}

const CANCEL_LINK = form({
  path: '/links/:id/cancel',
  guard: 'none',
  shows: async (visit) => {
    const { deps, named, to } = visit;
    const link = await getPaymentLink(deps, named);
    const back = [`/links/${link.id}`, 'The link'] as const;
    if (isOpenLink(link.status))
      return {
        title: 'Cancel this payment link?',
        back,
        text: 'It cannot be opened again. Money that arrives afterwards is a deposit of the customer and does not pay the link; what was paid in part stays yours.',
        button: 'Cancel the link',
        look: 'danger',
      };
    const title = 'This payment link has ended';
    const stand = standOf(link, deps.now());
    const way = { href: to(back[0]), label: 'Look at the link' };
    const said = emptyState(stand.title, `${stand.text} There is nothing to cancel.`, way);
    return { title, body: html`${heading(visit, title, back)}${said}` };
  },
  apply: async (tx, deps, { visit }) => `/links/${(await cancelPaymentLink(tx, deps, visit.named)).id}`,
});

/** What was sent to the own webhook address of a link. */
const LINK_DELIVERIES = deliveryLog('/links/:id/deliveries', async ({ deps, named, door }) => {
  const { id, webhook_url: url } = await getPaymentLink(deps, named);
  if (url === null) throw door.refusal('NOT_FOUND');
  return { url, back: [`/links/${id}`, 'The link'] };
});

/** Payment links, but for the form of a new one. */
export const LINK_PAGES = [...LINKS, LINK_PAGE, CANCEL_LINK, ...LINK_DELIVERIES];
