import { chainOf, explorerLink } from '../../../chains/index.ts';
import { type DepositView, depositQuery } from '../../../contract/deposit.ts';
import { confirmationsText } from '../../../domain/deposit.ts';
import { listDeposits } from '../../../services/deposits/reads.ts';
import type { StoryLine, StoryStep } from '../../../services/deposits/story/steps.ts';
import { type DepositStory, depositStory } from '../../../services/deposits/story/story.ts';
import type { StoryEvent } from '../../../services/webhooks/shown/subject-events.ts';
import { foreign, type Html, type HtmlValue, html, plainText } from '../../html.ts';
import { amount, usd } from '../../parts/amount.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';
import { detail } from '../detail.ts';
import { BY_CURRENCY, BY_DAY, BY_NETWORK, exact, select, text } from '../fields.ts';
import { list } from '../list.ts';
import {
  type ColumnOf,
  coins,
  copyOf,
  type Empty,
  facts,
  nothing,
  type Rows,
  tableOf,
  timeOf,
  when,
} from '../pieces.ts';
import type { Visit } from '../visit.ts';
import { noDeliveries, outcome, sentRows } from './deliveries.ts';
import { waitLine } from './payouts.ts';
import { DEPOSIT, PAYOUT } from './states.ts';

const SEEN: ColumnOf<DepositView> = { head: 'Seen', cell: (row) => time(row.detected_at) };
const NETWORK: ColumnOf<DepositView> = { head: 'Network', cell: ({ network }) => chainOf(network).label };
const AMOUNTS: readonly ColumnOf<DepositView>[] = [
  coins('Amount', (row) => [row.amount, row.currency]),
  { head: 'Worth', end: true, cell: (row) => when(row.amount_usd, usd, '–') },
];
const link = ({ id }: DepositView) => `/deposits/${id}`;

/** What a list says of each deposit. */
export const DEPOSIT_ROWS: Rows<DepositView> = {
  link,
  columns: [
    SEEN,
    {
      head: 'Customer',
      cell: (row, { to }) => html`<a href="${to(`/customers/${row.customer_id}`)}">${payer(row)}</a>`,
    },
    NETWORK,
    ...AMOUNTS,
    { head: 'State', end: true, cell: ({ status }) => DEPOSIT.badge(status) },
  ],
};

/** What the page of something else says of each of its deposits. */
export const OWN_DEPOSIT_ROWS: Rows<DepositView> = {
  link,
  columns: [SEEN, ...AMOUNTS, NETWORK, { head: 'State', cell: ({ status }) => DEPOSIT.badge(status) }],
};

/** What stands where the first deposit will be. */
export function noDeposits({ mode }: Visit): Empty {
  return {
    title: 'No deposits yet',
    text: 'A deposit stands here a moment after it was sent to the address of a customer.',
    way:
      mode === 'test'
        ? ['/simulate', 'Simulate the first one']
        : ['/customers', 'Look at the customers and their addresses'],
  };
}

/** Who paid, as the merchant calls that customer. */
function payer({ external_id: externalId, email }: DepositView): Html {
  return externalId === null && email === null ? html`The customer` : foreign(externalId ?? email ?? '');
}

const DEPOSITS = list({
  path: '/deposits',
  title: 'Deposits',
  noun: ['deposit', 'deposits'],
  query: depositQuery,
  load: listDeposits,
  rows: DEPOSIT_ROWS,
  filters: [
    select('status', 'State', DEPOSIT.choices),
    BY_NETWORK,
    BY_CURRENCY,
    text('customer_id', 'Customer id', exact(36)),
    text('external_id', 'Your id of the customer', exact(255)),
    text('email', 'Email of the customer', exact(320)),
    text('address', 'Deposit address', exact(100)),
    text('transaction_hash', 'Transaction hash', exact(66)),
    ...BY_DAY,
  ],
  csv: (input) => ({ list: 'deposits', input }),
  actions: [{ path: '/simulate', label: 'Simulate a deposit', quiet: true, only: 'test' }],
  empty: noDeposits,
});

const DEPOSIT_PAGE = detail({
  path: '/deposits/:id',
  back: ['/deposits', 'Deposits'],
  // As expensive as a list, for a deposit of which much was sent.
  load: ({ named, inTurn }) => inTurn((deps) => depositStory(deps, named)),
  title: ({ deposit }) => `Deposit of ${deposit.amount} ${deposit.currency}`,
  heading: ({ deposit }) =>
    html`${amount(deposit.amount, deposit.currency)} ${DEPOSIT.badge(deposit.status)}`,
  sections: (story, visit) => [
    standing(story),
    [
      { id: 'facts', title: 'The deposit', body: about(visit, story.deposit) },
      { id: 'payout', title: 'Payout', body: payout(visit, story) },
    ],
    { id: 'timeline', title: 'What happened, the oldest first', body: timeline(visit, story) },
    { id: 'webhooks', title: 'Webhooks', body: webhooks(visit, story) },
  ],
});

/** Every deposit, with the filters of the API, and each with its story. */
export const DEPOSIT_PAGES = [...DEPOSITS, DEPOSIT_PAGE];

/** Why it failed, or what it waits for now; nothing where all is done. */
function standing({ deposit, waits_for: waitsFor, wait, timeline: steps }: DepositStory): Html | null {
  if (deposit.status === 'failed') {
    const failed = steps.findLast((step) => step.kind === 'state');
    return notice('bad', { title: 'It does not count', text: failed && stateWords(failed) });
  }
  if (wait !== null) return waitLine(wait);
  if (waitsFor === null) return null;
  return notice('info', { title: 'It waits', text: html`${waitsFor}${progress(deposit)}` });
}

function progress({ status, confirmations, required_confirmations: required }: DepositView): Html | null {
  if (status !== 'detected' && status !== 'confirming') return null;
  const reached = Math.min(confirmations, required);
  return html`<br>
<progress max="${required}" value="${reached}" aria-label="Confirmations"></progress>`;
}

function about(visit: Visit, deposit: DepositView): Html {
  const { to } = visit;
  const ofLink = (token: string) =>
    html`<a href="${to('/links', { search: token })}">The link that it pays</a>`;
  return facts([
    ['Customer', html`<a href="${to(`/customers/${deposit.customer_id}`)}">${payer(deposit)}</a>`],
    ['Payment link', when(deposit.payment_token, ofLink)],
    ['Network', chainOf(deposit.network).label],
    ['Worth', when(deposit.amount_usd, usd, 'Not known yet')],
    ['Price', price(deposit)],
    ['Seen', time(deposit.detected_at)],
    ['Completed', timeOf(deposit.completed_at)],
    ['Paid out', timeOf(deposit.settled_at)],
    ['Confirmations', confirmationsText(deposit.confirmations, deposit.required_confirmations)],
    ['Block', deposit.block_hash === null ? `${deposit.block_number}, replaced` : deposit.block_number],
    ['Sent to', copyOf(deposit.address, 'to-address', 'address that received it')],
    [
      'Sent from',
      copyOf(deposit.from_address, 'from-address', 'address that sent it') ??
        'Several addresses, or not known',
    ],
    ['Transaction', copyOf(deposit.transaction_hash, 'hash', 'transaction hash')],
    ['Look it up', lookedUp(visit, deposit)],
    ['Contract', copyOf(deposit.contract_address, 'contract', 'contract')],
    ['Id', copyOf(deposit.id, 'deposit-id', 'id')],
  ]);
}

function price({ rate_usd: rate, rate_at: at, rate_source: source, currency }: DepositView): HtmlValue {
  const from = when(source, (name) => html` (${foreign(name)})`);
  const since = when(at, (iso) => html`, ${time(iso)}`);
  return when(rate, (usdOfOne) => html`${usdOfOne} USD for one ${currency}${from}${since}`);
}

/** Nothing of test mode is on a chain. */
function lookedUp(
  { deps }: Visit,
  { is_live: isLive, network, transaction_hash: hash }: DepositView,
): HtmlValue {
  const url = isLive ? explorerLink(deps.settings.explorerUrls, network, 'transaction', hash) : null;
  return when(
    url,
    (href) => html`<a href="${href}" rel="noopener noreferrer nofollow">The transaction in an explorer</a>`,
  );
}

function payout({ to }: Visit, { payout: paid, deposit }: DepositStory): Html {
  if (paid === null) return nothing(unpaid(deposit));
  const ofPaid = (units: string) => amount(units, paid.currency);
  return html`<p>${PAYOUT.badge(paid.state)} ${paid.words}</p>
${facts([
  ['Paid to', copyOf(paid.destination, 'destination', 'your withdraw address')],
  ['The whole payout', when(paid.gross, ofPaid)],
  ['You got', when(paid.net, ofPaid)],
  ['It cost', when(paid.fee, (fee) => amount(fee, paid.fee_currency))],
  ['Of it for this deposit', deposit.settlement && amount(deposit.settlement.amount, deposit.currency)],
  ['Paid', timeOf(paid.settled_at)],
  ['Transaction', copyOf(paid.transaction_hash, 'payout-hash', 'transaction of the payout')],
])}
${when(paid.id, (id) => html`<p><a href="${to(`/payouts/${id}`)}">Look at the payout</a></p>`)}`;
}

function unpaid({ status }: DepositView): string {
  if (status === 'failed') return 'What failed is not paid out.';
  return status === 'completed' ? 'No payout is planned yet.' : 'It can be paid out once it is completed.';
}

function webhooks(visit: Visit, { events }: DepositStory): Html {
  const rows = events.flatMap(({ deliveries }) => deliveries);
  const [oldest] = events;
  if (!oldest) return nothing('No event of it is here.');
  if (rows.length > 0) return tableOf(visit, 'Deliveries, the oldest first', sentRows('briefly'), rows);
  const named = events.map(
    ({ id, event }, index) =>
      html`${index === 0 ? null : ', '}<a href="${visit.to(`/events/${id}`)}">${event}</a>`,
  );
  return html`<p>${noDeliveries(visit, oldest.at)} The events: ${named}</p>
<p><a href="${visit.to('/endpoints')}">Look at the endpoints</a></p>`;
}

type StateStep = Extract<StoryStep, { kind: 'state' }>;
type Moment = { readonly at: string; readonly shown: Html };

/**
 * Everything that has happened to a deposit in one list: each state and why, each movement of money, the
 * payout, and each time somebody was told. What happened within a second stands in the order of its cause.
 */
function timeline(visit: Visit, { timeline: steps, events, is_cut: isCut }: DepositStory): Html {
  const moments = [...steps.map(stepOf), ...events.flatMap((event) => attemptsOf(visit, event))];
  const inOrder = moments.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));
  const cut = notice('plain', {
    title: 'The oldest steps are not shown',
    text: 'There were too many of them.',
  });
  return html`${isCut ? cut : null}
<ol class="timeline">
${inOrder.map(({ at, shown }) => html`<li><span class="muted">${time(at)}</span><div>${shown}</div></li>\n`)}</ol>`;
}

function stepOf(step: StoryStep): Moment {
  switch (step.kind) {
    case 'state':
      return { at: step.at, shown: html`${DEPOSIT.badge(step.state)} ${stateWords(step)}` };
    case 'posting':
      return {
        at: step.at,
        shown: html`<ul class="postings">${step.lines.map(line)}</ul>`,
      };
    case 'payout':
      return {
        at: step.at,
        shown: html`${step.words}${step.transaction_hash === null ? null : html`<br><span class="mono">${step.transaction_hash}</span>`}`,
      };
  }
}

/** What an account got, or gave where a minus stands. */
function line({ words, amount: units, currency }: StoryLine): Html {
  return html`<li>${amount(units.startsWith('-') ? units : `+${units}`, currency)} ${words}</li>`;
}

/** What it means that a deposit came into a state, and why: a decision of the operator's is named as one. */
function stateWords({ words, reason, by_operator: byOperator }: StateStep): Html {
  if (!byOperator && reason === null) return html`${words}`;
  const by = byOperator ? 'The operator of this gateway decided it' : 'Because';
  return html`${words}<br>${by}${reason === null ? '.' : html`: ${foreign(reason)}`}`;
}

function attemptsOf({ to }: Visit, { id, event, deliveries }: StoryEvent): Moment[] {
  return deliveries.flatMap(({ url, attempts }) =>
    attempts.map((attempt) => ({
      at: attempt.started_at,
      shown: html`<a href="${to(`/events/${id}`)}">${event}</a> to ${foreign(hostOf(url))}: ${outcome(attempt)}`,
    })),
  );
}

/** Addresses of endpoints are long: whose server it is says enough here. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : plainText(url);
}
