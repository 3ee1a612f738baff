import { chainOf } from '../../../chains/index.ts';
import type { CustomerView } from '../../../contract/customer.ts';
import { findAddressPage, type PageOwner } from '../../../services/address-pages/links.ts';
import { listDeposits } from '../../../services/deposits/reads.ts';
import type { PageOf } from '../../../services/lists/page.ts';
import { getCustomer } from '../../../services/merchants/customer-reads.ts';
import { listPaymentLinks } from '../../../services/payment-links/index.ts';
import { Refusal } from '../../../services/refusal.ts';
import { foreign, type Html, html } from '../../html.ts';
import { usd } from '../../parts/amount.ts';
import { card } from '../../parts/card.ts';
import { copyable } from '../../parts/copyable.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { qrCode } from '../../qr.ts';
import { actButton } from '../ask.ts';
import { depositColumns } from '../deposit-columns.ts';
import { factList, metadataOf } from '../facts.ts';
import { crumb, heading } from '../heading.ts';
import { linkColumns } from '../links/list.ts';
import type { ReadPage, Visit } from '../visit.ts';
import { nameOf } from './list.ts';

/** Deposits and links that the page of the customer itself shows. */
const LATEST = 5;

/** One customer: who it is, the permanent addresses to be shown to that person, and what came of them. */
export const CUSTOMER_PAGE: ReadPage = {
  path: '/customers/:id',
  show: async (visit) => {
    const { deps, scope, params, door, to, ctx } = visit;
    const view = await getCustomer(deps, { ...scope, id: params['id'] ?? '' });
    const page = await pageOf(visit, { ...scope, id: view.id, publicUrl: door.publicUrl(ctx) });
    const ofCustomer = { ...scope, customerId: view.id, page: { limit: LATEST } };
    const [deposits, links] = await door.readList(scope.merchantId, async (deps) => [
      await listDeposits(deps, ofCustomer),
      await listPaymentLinks(deps, ofCustomer),
    ]);
    return {
      title: 'Customer',
      body: html`${crumb(to('/customers'), 'Customers')}${heading(nameOf(view), actions(visit, view.id))}
${card(facts(view), { id: 'facts', title: 'The customer' })}
${latest(deposits, {
  id: 'deposits',
  title: 'Deposits',
  nothing: 'Nothing has arrived at the addresses below yet.',
  columns: depositColumns(visit),
  all: to('/deposits', { customer_id: view.id }),
})}
${latest(links, {
  id: 'links',
  title: 'Payment links',
  nothing: 'There is no payment link for this customer yet.',
  columns: linkColumns(visit).filter(({ head }) => head !== 'Customer'),
  all: to('/links', { customer_id: view.id }),
})}
${page}
<div class="grid">
${view.addresses.map(address)}</div>`,
    };
  },
};

/** The page to be sent to the customer; nothing for one who is erased. */
async function pageOf(visit: Visit, owner: PageOwner): Promise<Html | null> {
  const link = await findAddressPage(visit.deps, owner).catch((error: unknown) => {
    if (error instanceof Refusal && error.code === 'NOT_FOUND') return undefined;
    throw error;
  });
  if (!link) return null;
  const [path, shown] = [
    `/customers/${owner.id}/new-page`,
    { id: 'page', title: 'The page for the customer' },
  ];
  if (link === 'no page')
    return card(
      html`<p>This customer has no page yet, on which these addresses are shown.</p>
${actButton(visit, { path, label: 'Make the page' })}`,
      shown,
    );
  if (link === 'not opened')
    return card(
      html`<p>The address of this customer’s page can be shown no more; another one takes its place.</p>
<p><a href="${visit.to(path)}">Replace its address</a></p>`,
      shown,
    );
  return card(
    html`<p>These addresses, and what has come to them, on a page for the customer. Whoever has its address sees it: send it to nobody else.</p>
<p>${copyable(link.url, { id: 'page-url', name: 'address of the page' })}</p>
<p><a href="${link.url}" rel="noopener noreferrer">Look at the page</a> · <a href="${visit.to(path)}">Replace its address</a></p>`,
    shown,
  );
}

function actions({ to, mode }: Visit, id: string): Html {
  const simulate = html`<a class="button quiet" href="${to('/simulate', { customer_id: id })}">Simulate a deposit</a>`;
  return html`${mode === 'test' ? simulate : null}
<a class="button" href="${to('/links/new', { customer_id: id })}">New payment link</a>`;
}

type Latest<Row> = {
  readonly id: string;
  readonly title: string;
  readonly nothing: string;
  readonly columns: readonly Column<Row>[];
  /** Where the whole list is. */
  readonly all: string;
};

function latest<Row>(page: PageOf<Row>, { id, title, nothing, columns, all }: Latest<Row>) {
  const total = `${page.totalIsAtLeast ? 'more than ' : ''}${page.total}`;
  const body =
    page.rows.length === 0
      ? html`<p class="muted">${nothing}</p>`
      : html`${table(`${title}, the latest first`, columns, page.rows)}
<p><a href="${all}">${title} of this customer: ${total} in all</a></p>`;
  return card(body, { id, title });
}

function facts(view: CustomerView): Html {
  return factList([
    ['Your own id', view.external_id === null ? '–' : foreign(view.external_id)],
    ['Email', view.email === null ? '–' : foreign(view.email)],
    ['Name', view.name === null ? '–' : foreign(view.name)],
    ['Deposits', view.deposit_count],
    ['Deposited', usd(view.total_deposited_usd)],
    ['Since', time(view.created_at)],
    ['Metadata', metadataOf(view.metadata)],
    ['Id', copyable(view.id, { id: 'customer-id', name: 'id' })],
  ]);
}

function address({ network, address: text, currencies }: CustomerView['addresses'][number]) {
  const { label } = chainOf(network);
  const coins = currencies.map(({ currency }) => currency).join(' and ');
  return card(
    html`<p>Send only ${coins} on ${label} to this address.</p>
<p>${copyable(text, { id: `address-${network}`, name: `address on ${label}` })}</p>
${qrCode(text, `QR code of the address ${text} on ${label}`)}`,
    { id: `on-${network}`, title: label },
  );
}
