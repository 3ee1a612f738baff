import { chainOf } from '../../chains/index.ts';
import type { DepositView } from '../../contract/deposit.ts';
import { html } from '../html.ts';
import { amount, usd } from '../parts/amount.ts';
import type { Column } from '../parts/table.ts';
import { time } from '../parts/time.ts';
import { depositBadge } from './states.ts';
import type { Visit } from './visit.ts';

/** What the page of something else says of each of its deposits. */
export function depositColumns({ to }: Visit): readonly Column<DepositView>[] {
  return [
    {
      head: 'Seen',
      cell: (row) => html`<a href="${to(`/deposits/${row.id}`)}">${time(row.detected_at)}</a>`,
    },
    { head: 'Amount', end: true, cell: (row) => amount(row.amount, row.currency) },
    { head: 'Worth', end: true, cell: (row) => (row.amount_usd === null ? '–' : usd(row.amount_usd)) },
    { head: 'Network', cell: ({ network }) => chainOf(network).label },
    { head: 'State', cell: ({ status }) => depositBadge(status) },
  ];
}
