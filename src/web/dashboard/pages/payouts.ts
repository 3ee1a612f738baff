import { z } from 'zod';
import { chainOf } from '../../../chains/index.ts';
import type { MerchantBalanceView } from '../../../contract/balance.ts';
import { listQuery, network, timeFilter } from '../../../contract/common.ts';
import { PAYOUT_STATES } from '../../../domain/settlement.ts';
import { everyBalance } from '../../../services/ledger/balances.ts';
import {
  getMerchantPayout,
  listMerchantPayouts,
  type MerchantPayoutInFull,
  type MerchantPayoutView,
} from '../../../services/payouts/views.ts';
import type { WaitWords } from '../../../services/payouts/words.ts';
import { type Html, html } from '../../html.ts';
import { amount, usd } from '../../parts/amount.ts';
import { card } from '../../parts/card.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';
import { detail } from '../detail.ts';
import { BY_DAY, BY_NETWORK, select } from '../fields.ts';
import { list } from '../list.ts';
import { coins, copyOf, type Empty, facts, nothing, type Rows, tableOf, timeOf, when } from '../pieces.ts';
import type { Visit } from '../visit.ts';
import { PAYOUT } from './states.ts';

/** Who has to do something, in the words of whoever reads it. */
export const WHO: Readonly<Record<WaitWords['who'], string>> = {
  you: 'It waits for you',
  operator: 'It waits for the operator of this gateway',
  nobody: 'It goes on by itself',
};

/** Why something is not paid out yet, since when, and who has to do something about it. */
export function waitLine({ who, words, since }: WaitWords): Html {
  return notice(who === 'you' ? 'warn' : 'info', {
    title: WHO[who],
    text: html`${words} Since ${time(since)}.`,
  });
}

const PAYOUT_ROWS: Rows<MerchantPayoutView> = {
  link: ({ id }) => `/payouts/${id}`,
  columns: [
    { head: 'Planned', cell: (row) => time(row.created_at) },
    { head: 'Network', cell: (row) => chainOf(row.network).label },
    coins('Amount', (row) => [row.gross, row.currency]),
    coins('You got', (row) => [row.net, row.currency]),
    coins('Cost', (row) => [row.fee, row.fee_currency]),
    { head: 'Deposits', end: true, cell: (row) => row.deposit_count },
    { head: 'State', end: true, cell: stateOf },
  ],
};

const PAYOUTS = list({
  path: '/payouts',
  title: 'Payouts',
  noun: ['payout', 'payouts'],
  query: listQuery({
    state: z.enum(PAYOUT_STATES).optional(),
    network: network.optional(),
    created_from: timeFilter.optional(),
    created_to: timeFilter.optional(),
  }),
  load: listMerchantPayouts,
  rows: PAYOUT_ROWS,
  filters: [select('state', 'State', PAYOUT.choices), BY_NETWORK, ...BY_DAY],
  csv: (input) => ({ list: 'payouts', input }),
  actions: [{ path: '/payouts/balances', label: 'Balances', quiet: true }],
  empty: noPayouts,
});

function stateOf({ state, wait }: MerchantPayoutView): Html {
  return html`${PAYOUT.badge(state)}${wait === null || wait.who === 'nobody' ? null : html`<br>${WHO[wait.who]}`}`;
}

/** Withdraw addresses are those of live money: nothing of the test mode is sent anywhere. */
function noPayouts({ mode }: Visit): Empty {
  const title = 'No payouts yet';
  return mode === 'test'
    ? {
        title,
        text: 'A test deposit that is simulated as settled is paid out at once.',
        way: ['/simulate', 'Simulate a deposit'],
      }
    : {
        title,
        text: 'Completed deposits are paid out to your withdraw address by themselves. What is paid, and what waits, stands here.',
        way: ['/settings/withdraw', 'Look at the withdraw addresses'],
      };
}

const PAYOUT_PAGE = detail({
  path: '/payouts/:id',
  back: ['/payouts', 'Payouts'],
  load: ({ deps, named }) => getMerchantPayout(deps, named),
  title: ({ gross, currency }) => `Payout of ${gross} ${currency}`,
  heading: ({ gross, currency, state }) => html`${amount(gross, currency)} ${PAYOUT.badge(state)}`,
  sections: (payout, visit) => [
    html`<p>${payout.words}</p>`,
    payout.wait && waitLine(payout.wait),
    { id: 'facts', title: 'The payout', body: about(payout) },
    { id: 'deposits', title: 'Deposits that it pays out', body: deposits(visit, payout) },
    {
      id: 'transactions',
      title: 'Transactions',
      body: tableOf(visit, SENT, TRANSACTION_ROWS, payout.transactions, 'Nothing was asked for yet.'),
    },
  ],
});

function about(payout: MerchantPayoutInFull): Html {
  return facts([
    ['Network', chainOf(payout.network).label],
    ['The deposits together', amount(payout.gross, payout.currency)],
    ['You got', when(payout.net, (net) => amount(net, payout.currency))],
    ['It cost', when(payout.fee, (fee) => amount(fee, payout.fee_currency))],
    ['From', copyOf(payout.address, 'from', 'address that it is paid from')],
    ['To', copyOf(payout.destination, 'destination', 'your withdraw address')],
    ['Planned', time(payout.created_at)],
    ['Paid', timeOf(payout.settled_at)],
    ['Transaction', copyOf(payout.transaction_hash, 'hash', 'transaction hash')],
    ['Id', copyOf(payout.id, 'payout-id', 'id')],
  ]);
}

function deposits(visit: Visit, payout: MerchantPayoutInFull): Html {
  const { deposits: rows, deposit_count: count, fee_currency: feeCurrency } = payout;
  const all = count === 1 ? '1 deposit' : `${count} deposits`;
  const caption = rows.length < count ? `The first ${rows.length} of ${all}` : all;
  const none =
    'It pays nothing out any more. Each of its deposits says what it waits for, or which payout has it.';
  return tableOf(visit, caption, depositRows(feeCurrency), rows, none);
}

function depositRows(feeCurrency: string): Rows<MerchantPayoutInFull['deposits'][number]> {
  return {
    link: ({ id }) => `/deposits/${id}`,
    columns: [
      {
        head: 'Deposit',
        cell: ({ transaction_hash: hash }) =>
          html`<span class="mono">${hash.slice(0, 10)}…${hash.slice(-6)}</span>`,
      },
      coins('Amount', (row) => [row.amount, row.currency]),
      coins('You got', (row) => [row.settled, row.currency]),
      coins('Its part of the cost', (row) => [row.fee, feeCurrency]),
    ],
  };
}

const SENT = 'What was sent for it, the oldest first';

const TRANSACTION_ROWS: Rows<MerchantPayoutInFull['transactions'][number]> = {
  columns: [
    { head: 'For', cell: ({ words }) => words },
    {
      head: 'State',
      cell: ({ state, block_number: block }) => (block === null ? state : `${state}, block ${block}`),
    },
    coins('Amount', (row) => [row.amount, row.currency]),
    coins('Cost', (row) => [row.fee, row.fee_currency]),
    {
      head: 'Transaction',
      cell: (row) => when(row.transaction_hash, (hash) => html`<span class="mono">${hash}</span>`, '–'),
    },
    { head: 'Asked for', end: true, cell: (row) => time(row.asked_at) },
  ],
};

/** What the words of a balance mean. */
export const BALANCE_WORDS = nothing(
  'Available: completed, and not paid out yet. Pending: seen, and not confirmed yet. Paid out: since the beginning, and not in the total. What failed is in none of them.',
);

type Balance = MerchantBalanceView & { readonly moved: boolean };

const BALANCE_ROWS: Rows<Balance> = {
  columns: [
    { head: 'Coin', cell: (row) => html`${row.currency} on ${chainOf(row.network).label}` },
    coins('Available', (row) => [row.available, row.currency]),
    coins('Pending', (row) => [row.pending, row.currency]),
    coins('Total', (row) => [row.amount, row.currency]),
    { head: 'Worth', end: true, cell: (row) => when(row.amount_usd, usd, 'No price yet') },
    coins('Paid out', (row) => [row.settled, row.currency]),
    { head: 'Last moved', end: true, cell: (row) => (row.moved ? time(row.updated_at) : 'Never') },
  ],
};

const BALANCES = detail({
  path: '/payouts/balances',
  back: ['/payouts', 'Payouts'],
  load: async ({ deps, scope }) =>
    (await everyBalance(deps, scope)).map(({ row, moved }) => ({ ...row, moved })),
  title: 'Balances',
  sections: (rows, visit) => [
    card(html`${tableOf(visit, 'Each coin on each network', BALANCE_ROWS, rows)}
${BALANCE_WORDS}`),
  ],
});

/** Payouts to the merchant's own addresses, and what is still to be paid out. */
export const PAYOUT_PAGES = [...PAYOUTS, BALANCES, PAYOUT_PAGE];
