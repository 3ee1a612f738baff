import { chainOf } from '../../../chains/index.ts';
import {
  getMerchantPayout,
  type MerchantPayoutInFull,
} from '../../../services/payouts/shown/merchant-reads.ts';
import { type Html, html } from '../../html.ts';
import { amount } from '../../parts/amount.ts';
import { card } from '../../parts/card.ts';
import { copyable } from '../../parts/copyable.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { factList } from '../facts.ts';
import { crumb, heading } from '../heading.ts';
import { payoutBadge } from '../states.ts';
import type { ReadPage, Visit } from '../visit.ts';
import { waitLine } from './wait.ts';

/** One payout: what it pays to whom, why it waits, and what was sent for it. */
export const PAYOUT_PAGE: ReadPage = {
  path: '/payouts/:id',
  show: async (visit) => {
    const { deps, scope, params, to } = visit;
    const payout = await getMerchantPayout(deps, { ...scope, id: params['id'] ?? '' });
    const { gross, currency, state, wait } = payout;
    return {
      title: `Payout of ${gross} ${currency}`,
      body: html`${crumb(to('/payouts'), 'Payouts')}${heading(html`${amount(gross, currency)} ${payoutBadge(state)}`)}
<p>${payout.words}</p>
${wait === null ? null : waitLine(wait)}
${card(facts(payout), { id: 'facts', title: 'The payout' })}
${card(deposits(visit, payout), { id: 'deposits', title: 'Deposits that it pays out' })}
${card(transactions(payout), { id: 'transactions', title: 'Transactions' })}`,
    };
  },
};

function facts(payout: MerchantPayoutInFull): Html {
  const { net, fee, settled_at: settledAt, transaction_hash: hash } = payout;
  return factList([
    ['Network', chainOf(payout.network).label],
    ['The deposits together', amount(payout.gross, payout.currency)],
    ['You got', net === null ? null : amount(net, payout.currency)],
    ['It cost', fee === null ? null : amount(fee, payout.fee_currency)],
    ['From', copyable(payout.address, { id: 'from', name: 'address that it is paid from' })],
    ['To', copyable(payout.destination, { id: 'destination', name: 'your withdraw address' })],
    ['Planned', time(payout.created_at)],
    ['Paid', settledAt === null ? null : time(settledAt)],
    ['Transaction', hash === null ? null : copyable(hash, { id: 'hash', name: 'transaction hash' })],
    ['Id', copyable(payout.id, { id: 'payout-id', name: 'id' })],
  ]);
}

function deposits(visit: Visit, payout: MerchantPayoutInFull): Html {
  const { deposits: rows, deposit_count: count, fee_currency: feeCurrency } = payout;
  if (rows.length === 0)
    return html`<p class="muted">It pays nothing out any more. Each of its deposits says what it waits for, or which payout has it.</p>`;
  const columns: readonly Column<(typeof rows)[number]>[] = [
    {
      head: 'Deposit',
      cell: ({ id, transaction_hash: hash }) =>
        html`<a class="mono" href="${visit.to(`/deposits/${id}`)}">${short(hash)}</a>`,
    },
    { head: 'Amount', end: true, cell: (row) => amount(row.amount, row.currency) },
    {
      head: 'You got',
      end: true,
      cell: (row) => (row.settled === null ? '–' : amount(row.settled, row.currency)),
    },
    {
      head: 'Its part of the cost',
      end: true,
      cell: (row) => (row.fee === null ? '–' : amount(row.fee, feeCurrency)),
    },
  ];
  const all = count === 1 ? '1 deposit' : `${count} deposits`;
  return table(rows.length < count ? `The first ${rows.length} of ${all}` : all, columns, rows);
}

function transactions({ transactions: rows }: MerchantPayoutInFull): Html {
  if (rows.length === 0) return html`<p class="muted">Nothing was asked for yet.</p>`;
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { head: 'For', cell: ({ words }) => words },
    {
      head: 'State',
      cell: ({ state, block_number: block }) => (block === null ? state : `${state}, block ${block}`),
    },
    { head: 'Amount', end: true, cell: (row) => amount(row.amount, row.currency) },
    { head: 'Cost', end: true, cell: (row) => (row.fee === null ? '–' : amount(row.fee, row.fee_currency)) },
    {
      head: 'Transaction',
      cell: ({ transaction_hash: hash }) => (hash === null ? '–' : html`<span class="mono">${hash}</span>`),
    },
    { head: 'Asked for', end: true, cell: (row) => time(row.asked_at) },
  ];
  return table('What was sent for it, the oldest first', columns, rows);
}

function short(hash: string): string {
  return `${hash.slice(0, 10)}…${hash.slice(-6)}`;
}
