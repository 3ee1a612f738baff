import { type CustomerView, customerQuery } from '../../../contract/customer.ts';
import { listCustomers } from '../../../services/merchants/customer-reads.ts';
import { foreign, html } from '../../html.ts';
import { usd } from '../../parts/amount.ts';
import { emptyState } from '../../parts/empty.ts';
import { textField } from '../../parts/field.ts';
import { time } from '../../parts/time.ts';
import { listScreen } from '../list.ts';
import type { ReadPage } from '../visit.ts';

/** Every customer, found by a part of a name or by an address. */
export const CUSTOMERS_PAGE: ReadPage = {
  path: '/customers',
  show: (visit) =>
    listScreen(visit, {
      path: '/customers',
      title: 'Customers',
      noun: ['customer', 'customers'],
      query: customerQuery,
      load: listCustomers,
      columns: ({ to }) => [
        {
          head: 'Customer',
          cell: (row: CustomerView) => html`<a href="${to(`/customers/${row.id}`)}">${nameOf(row)}</a>`,
        },
        { head: 'Email', cell: ({ email }) => (email === null ? '–' : foreign(email)) },
        { head: 'Deposits', end: true, cell: ({ deposit_count: count }) => count },
        { head: 'Deposited', end: true, cell: (row) => usd(row.total_deposited_usd) },
        { head: 'Since', end: true, cell: (row) => time(row.created_at) },
      ],
      filters: (values, errors) => html`${textField(
        {
          name: 'search',
          label: 'Search',
          hint: 'Part of an id of yours, an email or a name',
          value: values['search'],
          error: errors['search'],
        },
        ' type="search" maxlength="320"',
      )}
${textField({ name: 'address', label: 'Deposit address', value: values['address'], error: errors['address'] }, ' maxlength="100" spellcheck="false" autocapitalize="none"')}`,
      actions: ({ to }) => html`<a class="button" href="${to('/customers/new')}">New customer</a>`,
      csv: '/customers.csv',
      empty: ({ to }) =>
        emptyState('No customers yet', 'Each customer gets permanent addresses on every network.', {
          href: to('/customers/new'),
          label: 'Make the first one',
        }),
    }),
};

/** What a merchant calls a customer: the name, else the merchant's own id, else the email. */
export function nameOf({
  name,
  external_id: externalId,
  email,
}: Pick<CustomerView, 'name' | 'external_id' | 'email'>) {
  return foreign(name ?? externalId ?? email ?? '');
}
