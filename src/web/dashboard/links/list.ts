import { type PaymentLinkView, paymentLinkQuery } from '../../../contract/payment-link.ts';
import { listPaymentLinks } from '../../../services/payment-links/index.ts';
import { foreign, type Html, html } from '../../html.ts';
import { usd } from '../../parts/amount.ts';
import { emptyState } from '../../parts/empty.ts';
import { selectField, textField } from '../../parts/field.ts';
import type { Column } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { createdFields, exactField } from '../filters.ts';
import { listScreen } from '../list.ts';
import { LINK_STATUS_CHOICES, linkBadge } from '../states.ts';
import type { ReadPage, Visit } from '../visit.ts';

/** Every payment link, with the filters of the API. */
export const LINKS_PAGE: ReadPage = {
  path: '/links',
  show: (visit) =>
    listScreen(visit, {
      path: '/links',
      title: 'Payment links',
      noun: ['payment link', 'payment links'],
      query: paymentLinkQuery,
      load: listPaymentLinks,
      columns: linkColumns,
      filters: (values, errors) => html`${textField(
        {
          name: 'search',
          label: 'Search',
          hint: 'Description, reference, email',
          value: values['search'],
          error: errors['search'],
        },
        ' type="search" maxlength="320"',
      )}
${selectField({ name: 'status', label: 'State', value: values['status'], error: errors['status'] }, LINK_STATUS_CHOICES)}
${exactField({ name: 'customer_id', label: 'Customer id', most: 36 }, values, errors)}
${exactField({ name: 'external_id', label: 'Your reference', most: 255 }, values, errors)}
${createdFields(values, errors)}`,
      actions: ({ to }) => html`<a class="button" href="${to('/links/new')}">New payment link</a>`,
      csv: '/links.csv',
      empty: ({ to }) =>
        emptyState(
          'No payment links yet',
          'A payment link is a page where one customer pays one amount. You send its address.',
          { href: to('/links/new'), label: 'Make the first one' },
        ),
    }),
};

/** What a list says of each link. */
export function linkColumns({ to }: Visit): readonly Column<PaymentLinkView>[] {
  return [
    { head: 'For', cell: (row) => html`<a href="${to(`/links/${row.id}`)}">${titleOf(row)}</a>` },
    { head: 'Amount', end: true, cell: (row) => usd(row.amount_usd) },
    { head: 'State', cell: ({ status }) => linkBadge(status) },
    {
      head: 'Customer',
      cell: (row) =>
        html`<a href="${to(`/customers/${row.customer_id}`)}">${row.email === null ? `${row.customer_id.slice(0, 8)}…` : foreign(row.email)}</a>`,
    },
    { head: 'Made', end: true, cell: (row) => time(row.created_at) },
  ];
}

/** More of a description than this is for its own page. */
const TITLE_LENGTH = 80;

/** What a link is for: its description, else the merchant's reference; in short. */
export function titleOf({
  description,
  external_id: reference,
}: Pick<PaymentLinkView, 'description' | 'external_id'>): Html {
  const letters = [...(description ?? reference ?? 'Payment link')];
  return foreign(letters.slice(0, TITLE_LENGTH).join('') + (letters.length > TITLE_LENGTH ? '…' : ''));
}
