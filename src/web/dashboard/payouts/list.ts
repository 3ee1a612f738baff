import { z } from 'zod';
import { chainOf } from '../../../chains/index.ts';
import { listQuery, network, timeFilter } from '../../../contract/common.ts';
import { PAYOUT_STATES } from '../../../domain/settlement.ts';
import {
  listMerchantPayouts,
  type MerchantPayoutView,
} from '../../../services/payouts/shown/merchant-reads.ts';
import { type Html, html } from '../../html.ts';
import { amount } from '../../parts/amount.ts';
import { emptyState } from '../../parts/empty.ts';
import { selectField } from '../../parts/field.ts';
import type { Column } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { createdFields, networkField } from '../filters.ts';
import { listScreen, type Values } from '../list.ts';
import { PAYOUT_STATE_CHOICES, payoutBadge } from '../states.ts';
import type { ReadPage, Visit } from '../visit.ts';
import { WHO } from './wait.ts';

/** What the list of payouts, and its file, can be asked for. */
export const payoutQuery = listQuery({
  state: z.enum(PAYOUT_STATES).optional(),
  network: network.optional(),
  created_from: timeFilter.optional(),
  created_to: timeFilter.optional(),
});

/** Every payout to the merchant's own addresses. */
export const PAYOUTS_PAGE: ReadPage = {
  path: '/payouts',
  show: (visit) =>
    listScreen(visit, {
      path: '/payouts',
      title: 'Payouts',
      noun: ['payout', 'payouts'],
      query: payoutQuery,
      load: listMerchantPayouts,
      columns,
      filters,
      csv: '/payouts.csv',
      actions: ({ to }) => html`<a class="button quiet" href="${to('/payouts/balances')}">Balances</a>`,
      empty: noPayouts,
    }),
};

/** Withdraw addresses are those of live money: nothing of the test mode is sent anywhere. */
function noPayouts({ to, mode }: Visit): Html {
  return mode === 'test'
    ? emptyState('No payouts yet', 'A test deposit that is simulated as settled is paid out at once.', {
        href: to('/simulate'),
        label: 'Simulate a deposit',
      })
    : emptyState(
        'No payouts yet',
        'Completed deposits are paid out to your withdraw address by themselves. What is paid, and what waits, stands here.',
        { href: to('/settings/withdraw'), label: 'Look at the withdraw addresses' },
      );
}

function filters(values: Values, errors: Values): Html {
  return html`${selectField({ name: 'state', label: 'State', value: values['state'], error: errors['state'] }, PAYOUT_STATE_CHOICES)}
${networkField(values, errors)}
${createdFields(values, errors)}`;
}

function columns({ to }: Visit): readonly Column<MerchantPayoutView>[] {
  return [
    {
      head: 'Planned',
      cell: (row) => html`<a href="${to(`/payouts/${row.id}`)}">${time(row.created_at)}</a>`,
    },
    { head: 'Network', cell: ({ network: on }) => chainOf(on).label },
    { head: 'Amount', end: true, cell: (row) => amount(row.gross, row.currency) },
    { head: 'You got', end: true, cell: (row) => (row.net === null ? '–' : amount(row.net, row.currency)) },
    { head: 'Cost', end: true, cell: (row) => (row.fee === null ? '–' : amount(row.fee, row.fee_currency)) },
    { head: 'Deposits', end: true, cell: (row) => row.deposit_count },
    { head: 'State', end: true, cell: stateOf },
  ];
}

function stateOf({ state, wait }: MerchantPayoutView): Html {
  return html`${payoutBadge(state)}${wait === null || wait.who === 'nobody' ? null : html`<br>${WHO[wait.who]}`}`;
}
