import { type OverviewView, readOverview } from '../../../services/overview/overview.ts';
import { type Html, html } from '../../html.ts';
import { amount, usd } from '../../parts/amount.ts';
import { card } from '../../parts/card.ts';
import { type Column, table } from '../../parts/table.ts';
import { depositColumns, noDeposits } from '../deposits/list.ts';
import { heading } from '../heading.ts';
import { BALANCE_WORDS } from '../payouts/balances.ts';
import type { ReadPage, Visit } from '../visit.ts';
import { lastDays } from './days.ts';
import { troubles } from './troubles.ts';
import { waiting } from './waiting.ts';

/** Where a merchant begins: what is there, what waits for whom, and what needs a look. */
export const OVERVIEW_PAGE: ReadPage = {
  path: '',
  show: async (visit) => {
    const { scope, door } = visit;
    const view = await door.readList(scope.merchantId, (deps) => readOverview(deps, scope));
    return {
      title: 'Overview',
      body: html`${heading('Overview')}
${troubles(visit, view.endpoints)}
<div class="grid">
${card(balance(visit, view.balance), { id: 'balance', title: 'Balance' })}
${card(waiting(visit, view.waiting), { id: 'waiting', title: 'What waits' })}
</div>
${card(lastDays(view.days), { id: 'days', title: 'The last 30 days' })}
${latest(visit, view.deposits)}`,
    };
  },
};

type Coin = OverviewView['balance']['balances'][number];

function balance({ to }: Visit, view: OverviewView['balance']): Html {
  const columns: readonly Column<Coin>[] = [
    { head: 'Coin', cell: ({ currency }) => currency },
    { head: 'Available', end: true, cell: (row) => amount(row.available, row.currency) },
    { head: 'Pending', end: true, cell: (row) => amount(row.pending, row.currency) },
    { head: 'Paid out', end: true, cell: (row) => amount(row.settled, row.currency) },
  ];
  const unpriced = view.balances.filter((row) => row.amount_usd === null).map(({ currency }) => currency);
  return html`<p class="amount big">${usd(view.total_usd)}</p>
<p class="muted">${usd(view.available_usd)} available, ${usd(view.pending_usd)} pending</p>
${unpriced.length === 0 ? null : html`<p>Not in these sums, because there is no price at the moment: ${unpriced.join(', ')}.</p>`}
${table('By coin, on all networks', columns, view.balances)}
${BALANCE_WORDS}
<p><a href="${to('/payouts/balances')}">Each coin on each network</a></p>`;
}

function latest(visit: Visit, deposits: OverviewView['deposits']): Html {
  if (deposits.length === 0) return noDeposits(visit);
  return card(
    html`${table('The latest, the newest first', depositColumns(visit), deposits)}
<p><a href="${visit.to('/deposits')}">Look at all deposits</a></p>`,
    { id: 'latest', title: 'Deposits' },
  );
}
