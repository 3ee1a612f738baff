import { chainOf } from '../../../chains/index.ts';
import type { MerchantBalanceView } from '../../../contract/balance.ts';
import { everyBalance } from '../../../services/ledger/balances.ts';
import { type Html, html } from '../../html.ts';
import { amount, usd } from '../../parts/amount.ts';
import { card } from '../../parts/card.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { crumb, heading } from '../heading.ts';
import type { ReadPage } from '../visit.ts';

/** What the merchant has of each coin on each network. */
export const BALANCES_PAGE: ReadPage = {
  path: '/payouts/balances',
  show: async ({ deps, scope, to }) => {
    const all = await everyBalance(deps, scope);
    const shown = all.map(({ row, moved }) => ({ ...row, moved }));
    return {
      title: 'Balances',
      body: html`${crumb(to('/payouts'), 'Payouts')}${heading('Balances')}
${card(html`${table('Each coin on each network', COLUMNS, shown)}
${BALANCE_WORDS}`)}`,
    };
  },
};

/** What the words of a balance mean. */
export const BALANCE_WORDS: Html = html`<p class="muted">Available: completed, and not paid out yet. Pending: seen, and not confirmed yet. Paid out: since the beginning, and not in the total. What failed is in none of them.</p>`;

const COLUMNS: readonly Column<MerchantBalanceView & { readonly moved: boolean }>[] = [
  { head: 'Coin', cell: ({ currency, network }) => html`${currency} on ${chainOf(network).label}` },
  { head: 'Available', end: true, cell: (row) => amount(row.available, row.currency) },
  { head: 'Pending', end: true, cell: (row) => amount(row.pending, row.currency) },
  { head: 'Total', end: true, cell: (row) => amount(row.amount, row.currency) },
  {
    head: 'Worth',
    end: true,
    cell: (row) => (row.amount_usd === null ? 'No price yet' : usd(row.amount_usd)),
  },
  { head: 'Paid out', end: true, cell: (row) => amount(row.settled, row.currency) },
  { head: 'Last moved', end: true, cell: (row) => (row.moved ? time(row.updated_at) : 'Never') },
];
