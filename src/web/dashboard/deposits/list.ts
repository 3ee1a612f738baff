import { chainOf } from '../../../chains/index.ts';
import { type DepositView, depositQuery } from '../../../contract/deposit.ts';
import { listDeposits } from '../../../services/deposits/reads.ts';
import { foreign, type Html, html } from '../../html.ts';
import { amount, usd } from '../../parts/amount.ts';
import { emptyState } from '../../parts/empty.ts';
import { selectField } from '../../parts/field.ts';
import type { Column } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { createdFields, currencyField, exactField, networkField } from '../filters.ts';
import { listScreen, type Values } from '../list.ts';
import { DEPOSIT_STATE_CHOICES, depositBadge } from '../states.ts';
import type { ReadPage, Visit } from '../visit.ts';

/** Every deposit, with the filters of the API. */
export const DEPOSITS_PAGE: ReadPage = {
  path: '/deposits',
  show: (visit) =>
    listScreen(visit, {
      path: '/deposits',
      title: 'Deposits',
      noun: ['deposit', 'deposits'],
      query: depositQuery,
      load: listDeposits,
      columns: depositColumns,
      filters,
      csv: '/deposits.csv',
      actions: ({ to, mode }) =>
        mode === 'live'
          ? undefined
          : html`<a class="button quiet" href="${to('/simulate')}">Simulate a deposit</a>`,
      empty: noDeposits,
    }),
};

/** What stands where the first deposit will be. */
export function noDeposits({ to, mode }: Visit): Html {
  return emptyState(
    'No deposits yet',
    'A deposit stands here a moment after it was sent to the address of a customer.',
    mode === 'test'
      ? { href: to('/simulate'), label: 'Simulate the first one' }
      : { href: to('/customers'), label: 'Look at the customers and their addresses' },
  );
}

/** What a list says of each deposit. */
export function depositColumns({ to }: Visit): readonly Column<DepositView>[] {
  return [
    {
      head: 'Seen',
      cell: (row) => html`<a href="${to(`/deposits/${row.id}`)}">${time(row.detected_at)}</a>`,
    },
    {
      head: 'Customer',
      cell: (row) => html`<a href="${to(`/customers/${row.customer_id}`)}">${payer(row)}</a>`,
    },
    { head: 'Network', cell: ({ network }) => chainOf(network).label },
    { head: 'Amount', end: true, cell: (row) => amount(row.amount, row.currency) },
    { head: 'Worth', end: true, cell: (row) => (row.amount_usd === null ? '–' : usd(row.amount_usd)) },
    { head: 'State', end: true, cell: ({ status }) => depositBadge(status) },
  ];
}

/** Who paid, as the merchant calls that customer. */
export function payer({ external_id: externalId, email }: DepositView): Html {
  return externalId === null && email === null ? html`The customer` : foreign(externalId ?? email ?? '');
}

function filters(values: Values, errors: Values): Html {
  return html`${selectField({ name: 'status', label: 'State', value: values['status'], error: errors['status'] }, DEPOSIT_STATE_CHOICES)}
${networkField(values, errors)}
${currencyField(values, errors)}
${exactField({ name: 'customer_id', label: 'Customer id', most: 36 }, values, errors)}
${exactField({ name: 'external_id', label: 'Your id of the customer', most: 255 }, values, errors)}
${exactField({ name: 'email', label: 'Email of the customer', most: 320 }, values, errors)}
${exactField({ name: 'address', label: 'Deposit address', most: 100 }, values, errors)}
${exactField({ name: 'transaction_hash', label: 'Transaction hash', most: 66 }, values, errors)}
${createdFields(values, errors)}`;
}
