import { chainOf } from '../../../chains/index.ts';
import { type CustomerView, customerQuery, newCustomer } from '../../../contract/customer.ts';
import { isUuid } from '../../../domain/ids.ts';
import { findAddressPage, moveAddressPage } from '../../../services/address-pages/links.ts';
import { listDeposits } from '../../../services/deposits/reads.ts';
import type { PageOf } from '../../../services/lists/page.ts';
import { getCustomer, listCustomers } from '../../../services/merchants/customer-reads.ts';
import { createCustomer } from '../../../services/merchants/customers.ts';
import { listPaymentLinks } from '../../../services/payment-links/index.ts';
import { Refusal } from '../../../services/refusal.ts';
import { foreign, type Html, html, plainText } from '../../html.ts';
import { usd } from '../../parts/amount.ts';
import { copyable } from '../../parts/copyable.ts';
import { time } from '../../parts/time.ts';
import { qrCode } from '../../qr.ts';
import { detail, type Section } from '../detail.ts';
import { EMAIL, exact, type FieldOf, readBy, SEARCH, select, text } from '../fields.ts';
import { actButton, form, hiddenFields } from '../form.ts';
import { list } from '../list.ts';
import { copyOf, facts, metadataOf, nothing, type Rows, tableOf, textOf } from '../pieces.ts';
import type { Typed, Values, Visit } from '../visit.ts';
import { OWN_DEPOSIT_ROWS } from './deposits.ts';
import { LINK_ROWS } from './links.ts';

const CUSTOMERS = list({
  path: '/customers',
  title: 'Customers',
  noun: ['customer', 'customers'],
  query: customerQuery,
  load: listCustomers,
  rows: {
    link: ({ id }: CustomerView) => `/customers/${id}`,
    columns: [
      { head: 'Customer', cell: nameOf },
      { head: 'Email', cell: ({ email }) => textOf(email, '–') },
      { head: 'Deposits', end: true, cell: (row) => row.deposit_count },
      { head: 'Deposited', end: true, cell: (row) => usd(row.total_deposited_usd) },
      { head: 'Since', end: true, cell: (row) => time(row.created_at) },
    ],
  },
  filters: [
    text('search', 'Search', SEARCH, 'Part of an id of yours, an email or a name'),
    text('address', 'Deposit address', exact(100)),
  ],
  actions: [{ path: '/customers/new', label: 'New customer' }],
  csv: (input) => ({ list: 'customers', input }),
  empty: {
    title: 'No customers yet',
    text: 'Each customer gets permanent addresses on every network.',
    way: ['/customers/new', 'Make the first one'],
  },
});

/** What a merchant calls a customer: the name, else the merchant's own id, else the email. */
export function nameOf({ name, external_id: externalId, email }: CustomerView): Html {
  return foreign(name ?? externalId ?? email ?? '');
}

const NEW_CUSTOMER = form({
  path: '/customers/new',
  guard: 'none',
  shows: () => ({
    title: 'New customer',
    back: ['/customers', 'Customers'],
    fields: [
      text('external_id', 'Your own id of the customer', ' maxlength="255"', {
        hint: 'For example the user’s number in your shop. An id or an email is needed.',
      }),
      text('email', 'Email', EMAIL),
      text('name', 'Name', ' maxlength="255"', 'For your own eyes'),
    ],
    button: 'Create customer',
  }),
  read: (visit, values) => {
    if (!values['external_id']?.trim() && !values['email']?.trim())
      return { details: [{ path: 'external_id', message: 'Give your own id or an email.' }] };
    return readBy(visit, newCustomer, ['external_id', 'email', 'name'], values);
  },
  apply: async (tx, deps, { visit: { scope }, input }) => {
    const { external_id: externalId = null, email = null, name = null } = input;
    const { id } = await createCustomer(tx, deps, { ...scope, externalId, email, name, metadata: {} });
    return `/customers/${id}`;
  },
});

/** Deposits and links that the page of the customer itself shows. */
const LATEST = 5;

const CUSTOMER_PAGE = detail({
  path: '/customers/:id',
  back: ['/customers', 'Customers'],
  load: async (visit) => {
    const { deps, named, scope, inTurn } = visit;
    const view = await getCustomer(deps, named);
    const page = await pageOf(visit);
    const ofCustomer = { ...scope, customerId: view.id, page: { limit: LATEST } };
    return await inTurn(async (turn) => ({
      view,
      page,
      deposits: await listDeposits(turn, ofCustomer),
      links: await listPaymentLinks(turn, ofCustomer),
    }));
  },
  title: 'Customer',
  heading: ({ view }) => nameOf(view),
  actions: ({ view: { id } }) => [
    { path: '/simulate', query: { customer_id: id }, label: 'Simulate a deposit', quiet: true, only: 'test' },
    { path: '/links/new', query: { customer_id: id }, label: 'New payment link' },
  ],
  sections: ({ view, page, deposits, links }, visit) => [
    { id: 'facts', title: 'The customer', body: about(view) },
    latest(visit, deposits, {
      of: ['deposits', 'Deposits'],
      rows: OWN_DEPOSIT_ROWS,
      none: 'Nothing has arrived at the addresses below yet.',
    }),
    latest(visit, links, {
      of: ['links', 'Payment links'],
      rows: { ...LINK_ROWS, columns: LINK_ROWS.columns.filter(({ head }) => head !== 'Customer') },
      none: 'There is no payment link for this customer yet.',
    }),
    page,
    view.addresses.map(address),
  ],
});

const ownerOf = ({ named, door, ctx }: Visit) => ({ ...named, publicUrl: door.publicUrl(ctx) });

/** The page to be sent to the customer; nothing for one who is erased. */
async function pageOf(visit: Visit): Promise<Section> {
  const link = await findAddressPage(visit.deps, ownerOf(visit)).catch((error: unknown) => {
    if (error instanceof Refusal && error.code === 'NOT_FOUND') return undefined;
    throw error;
  });
  if (!link) return null;
  const path = `/customers/${visit.named.id}/new-page`;
  const replace = html`<a href="${visit.to(path)}">Replace its address</a>`;
  const section = (body: Html) => ({ id: 'page', title: 'The page for the customer', body });
  if (link === 'no page')
    return section(html`<p>This customer has no page yet, on which these addresses are shown.</p>
${actButton(visit, { path, label: 'Make the page' })}`);
  if (link === 'not opened')
    return section(html`<p>The address of this customer’s page can be shown no more; another one takes its place.</p>
<p>${replace}</p>`);
  return section(html`<p>These addresses, and what has come to them, on a page for the customer. Whoever has its address sees it: send it to nobody else.</p>
<p>${copyable(link.url, { id: 'page-url', name: 'address of the page' })}</p>
<p><a href="${link.url}" rel="noopener noreferrer">Look at the page</a> · ${replace}</p>`);
}

type Latest<Row> = {
  readonly of: readonly [list: string, title: string];
  readonly rows: Rows<Row>;
  readonly none: string;
};

function latest<Row>(visit: Visit, page: PageOf<Row>, { of: [id, title], rows, none }: Latest<Row>): Section {
  if (page.rows.length === 0) return { id, title, body: nothing(none) };
  const total = `${page.totalIsAtLeast ? 'more than ' : ''}${page.total}`;
  const all = visit.to(`/${id}`, { customer_id: visit.named.id });
  const body = html`${tableOf(visit, `${title}, the latest first`, rows, page.rows)}
<p><a href="${all}">${title} of this customer: ${total} in all</a></p>`;
  return { id, title, body };
}

function about(view: CustomerView): Html {
  return facts([
    ['Your own id', textOf(view.external_id, '–')],
    ['Email', textOf(view.email, '–')],
    ['Name', textOf(view.name, '–')],
    ['Deposits', view.deposit_count],
    ['Deposited', usd(view.total_deposited_usd)],
    ['Since', time(view.created_at)],
    ['Metadata', metadataOf(view.metadata)],
    ['Id', copyOf(view.id, 'customer-id', 'id')],
  ]);
}

function address({ network, address: at, currencies }: CustomerView['addresses'][number]): Section {
  const { label } = chainOf(network);
  const coins = currencies.map(({ currency }) => currency).join(' and ');
  const body = html`<p>Send only ${coins} on ${label} to this address.</p>
<p>${copyable(at, { id: `address-${network}`, name: `address on ${label}` })}</p>
${qrCode(at, `QR code of the address ${at} on ${label}`)}`;
  return { id: `on-${network}`, title: label, body };
}

const NEW_ADDRESS = form({
  path: '/customers/:id/new-page',
  guard: 'none',
  shows: async (visit) => {
    await findAddressPage(visit.deps, ownerOf(visit));
    return {
      title: 'Replace the address of the page?',
      back: [`/customers/${visit.named.id}`, 'The customer'],
      text: 'For a page that somebody else got to see. There is nothing under the address before from then on, so give the customer the new one. The deposit addresses stay as they are.',
      button: 'Replace the address',
      look: 'danger',
    };
  },
  apply: async (tx, deps, { visit }) =>
    `/customers/${(await moveAddressPage(tx, deps, ownerOf(visit))).customer_id}`,
});

/** The merchant's customers. */
export const CUSTOMER_PAGES = [...CUSTOMERS, NEW_CUSTOMER, CUSTOMER_PAGE, NEW_ADDRESS];

/** So many customers are chosen from, the newest; another one has a way to the form on its own page. */
const CHOICES = 25;

/** The customer that a form's address names, as what was typed; nothing where it names none. */
export function customerKnown({ query }: Visit): Values {
  const id = query['customer_id'];
  return typeof id === 'string' && isUuid(id) ? { customer_id: id } : {};
}

/** The customer that a form is for: one that was named already, or an email or an id that is typed. */
export async function customerFields(visit: Visit, { values }: Typed): Promise<readonly (FieldOf | Html)[]> {
  const known = values['email'] ? undefined : await findCustomer(visit, values['customer_id']);
  if (known) return [namedCustomer(visit, known)];
  return [
    text('email', 'Email of the customer', EMAIL, 'An email that no customer has makes a new customer.'),
    text('customer_id', 'Or our id of the customer', exact(36)),
  ];
}

/** The same for a form that makes no customer: chosen among the newest. Undefined where there is none. */
export async function customerChoice(visit: Visit, { values }: Typed): Promise<FieldOf | Html | undefined> {
  const known = await findCustomer(visit, values['customer_id']);
  if (known) return namedCustomer(visit, known);
  const { rows, hasMore } = await visit.inTurn((deps) =>
    listCustomers(deps, { ...visit.scope, page: { limit: CHOICES } }),
  );
  if (rows.length === 0) return undefined;
  const choices = rows.map(({ id, name, external_id: externalId, email }) => {
    const names = [...new Set([name, externalId, email])].filter((one) => one !== null);
    return { value: id, label: plainText(names.join(', ')) };
  });
  const hint = 'The newest are here. For another one, begin at its own page.';
  return select('customer_id', 'Customer', choices, hasMore ? { hint } : {});
}

/** Throws the error; where a form names a customer that is not there, as a refusal at that field. */
export function unknownCustomer(error: unknown, id: string | undefined): never {
  if (id !== undefined && error instanceof Refusal && error.code === 'NOT_FOUND')
    throw new Refusal('INVALID', 'There is no such customer in this mode.', 'customer_id');
  throw error;
}

/** Seen by name, and posted by id. */
function namedCustomer({ to }: Visit, customer: CustomerView): Html {
  return html`<p><span class="label">Customer</span> <a href="${to(`/customers/${customer.id}`)}">${nameOf(customer)}</a></p>
${hiddenFields({ customer_id: customer.id })}`;
}

/** The customer of this merchant and mode with that id; undefined for every other text. */
async function findCustomer(
  { deps, scope }: Visit,
  id: string | undefined,
): Promise<CustomerView | undefined> {
  if (id === undefined || !isUuid(id.trim())) return undefined;
  return await getCustomer(deps, { ...scope, id: id.trim() }).catch((error: unknown) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
}
