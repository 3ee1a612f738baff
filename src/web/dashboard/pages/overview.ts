import type { Bounded } from '../../../services/lists/bounded.ts';
import { type OverviewView, readOverview } from '../../../services/overview/overview.ts';
import { foreign, type Html, html } from '../../html.ts';
import { usd } from '../../parts/amount.ts';
import { card } from '../../parts/card.ts';
import { barChart } from '../../parts/chart.ts';
import { notice } from '../../parts/notice.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { detail } from '../detail.ts';
import { coins, emptyOf, nothing, type Rows, tableOf, when } from '../pieces.ts';
import type { Visit } from '../visit.ts';
import { shownUrl } from './deliveries.ts';
import { DEPOSIT_ROWS, noDeposits } from './deposits.ts';
import { BALANCE_WORDS, WHO } from './payouts.ts';

/** Where a merchant begins: what is there, what waits for whom, and what needs a look. */
export const OVERVIEW = detail({
  path: '',
  load: ({ scope, inTurn }) => inTurn((deps) => readOverview(deps, scope)),
  title: 'Overview',
  sections: (view, visit) => [
    ...troubles(visit, view.endpoints),
    [
      { id: 'balance', title: 'Balance', body: balance(visit, view.balance) },
      { id: 'waiting', title: 'What waits', body: waiting(visit, view.waiting) },
    ],
    { id: 'days', title: 'The last 30 days', body: lastDays(view.days) },
    latest(visit, view.deposits),
  ],
});

type Trouble = OverviewView['endpoints'][number];

/** Endpoints that are not told what happens: said before everything else, and not said where all is well. */
function troubles({ to }: Visit, endpoints: readonly Trouble[]): Html[] {
  return endpoints.map(({ endpoint, failing_since: since, failed }) => {
    const { id, url, enabled, disabled_reason: reason, last_status_code: code } = endpoint;
    const title = enabled ? 'An endpoint fails' : 'An endpoint is switched off';
    return notice(enabled ? 'warn' : 'bad', {
      title,
      text: html`${shownUrl(url)}${code === null ? null : html`, which last answered HTTP ${code}`}.
${since === null ? null : html`Since ${time(since)}.`} ${reason === null ? null : html`${foreign(reason)}.`}
${failed.count === 0 ? null : html`${counted(failed, 'delivery was', 'deliveries were')} given up.`}
<a href="${to(`/endpoints/${id}`)}">Look at the endpoint</a>`,
    });
  });
}

type Coin = OverviewView['balance']['balances'][number];

const COINS: Rows<Coin> = {
  columns: [
    { head: 'Coin', cell: ({ currency }) => currency },
    coins('Available', (row) => [row.available, row.currency]),
    coins('Pending', (row) => [row.pending, row.currency]),
    coins('Paid out', (row) => [row.settled, row.currency]),
  ],
};

function balance(visit: Visit, view: OverviewView['balance']): Html {
  const unpriced = view.balances.filter((row) => row.amount_usd === null).map(({ currency }) => currency);
  return html`<p class="amount big">${usd(view.total_usd)}</p>
<p class="muted">${usd(view.available_usd)} available, ${usd(view.pending_usd)} pending</p>
${unpriced.length === 0 ? null : html`<p>Not in these sums, because there is no price at the moment: ${unpriced.join(', ')}.</p>`}
${tableOf(visit, 'By coin, on all networks', COINS, view.balances)}
${BALANCE_WORDS}
<p><a href="${visit.to('/payouts/balances')}">Each coin on each network</a></p>`;
}

function latest(visit: Visit, deposits: OverviewView['deposits']): Html {
  if (deposits.length === 0) return emptyOf(visit, noDeposits(visit));
  return card(
    html`${tableOf(visit, 'The latest, the newest first', DEPOSIT_ROWS, deposits)}
<p><a href="${visit.to('/deposits')}">Look at all deposits</a></p>`,
    { id: 'latest', title: 'Deposits' },
  );
}

type Waiting = OverviewView['waiting'];

/** What has not come to its end yet, each with whom it waits for. What waits for the merchant comes first. */
function waiting(visit: Visit, view: Waiting): Html {
  const lines = [...payouts(visit, view), ...failed(visit, view), ...others(visit, view)];
  if (lines.length === 0) return nothing('Nothing waits at the moment.');
  return html`<ul class="rows">
${lines.map((line) => html`<li>${line}</li>\n`)}</ul>`;
}

const FIRST = ['you', 'operator', 'nobody'] as const;

function payouts({ to }: Visit, { why }: Waiting): Html[] {
  const inOrder = why.toSorted((a, b) => FIRST.indexOf(a.who) - FIRST.indexOf(b.who));
  return inOrder.map(({ code, words, who, addresses, since }) => {
    const action =
      code === 'no_destination'
        ? html`<br><a href="${to('/settings/withdraw')}">Set a withdraw address</a>`
        : null;
    return html`<strong>${WHO[who]}</strong><br>${words}
<span class="muted">${counted(addresses, 'address', 'addresses')}, since ${time(since)}.</span>${action}`;
  });
}

function failed({ to }: Visit, { failed: all, over_limit: overLimit }: Waiting): Html[] {
  if (all.count === 0) return [];
  const href = to('/deposits', { status: 'failed' });
  const limit =
    overLimit.count === 0
      ? null
      : html` ${counted(overLimit, 'of them is', 'of them are')} over the monthly limit, and held: the operator of this gateway can release what is held, and raise the limit.`;
  return [
    html`<strong>It does not count</strong><br><a href="${href}">${counted(all, 'failed deposit', 'failed deposits')}</a>.${limit}`,
  ];
}

function others({ to }: Visit, { unconfirmed, unpaid, open_links: open }: Waiting): Html[] {
  const line = (
    title: string,
    href: string,
    count: Bounded,
    [one, many]: Noun,
    oldest: string | null = null,
  ) =>
    count.count === 0
      ? []
      : html`<strong>${title}</strong><br><a href="${href}">${counted(count, one, many)}</a>${when(oldest, (at) => html` <span class="muted">the oldest since ${time(at)}</span>`)}`;
  const unseen: Noun = ['deposit that is not confirmed', 'deposits that are not confirmed'];
  const payable: Noun = ['payment link that can still be paid', 'payment links that can still be paid'];
  const completed = to('/deposits', { status: 'completed' });
  return [
    line('It waits for the chain', to('/deposits'), unconfirmed, unseen, unconfirmed.oldest),
    line('To be paid out', completed, unpaid, ['completed deposit', 'completed deposits'], unpaid.oldest),
    line('It waits for payers', to('/links'), open, payable),
  ].flat();
}

type Noun = readonly [one: string, many: string];

type Day = OverviewView['days'][number];

/** What was completed on each of the last days: as bars, and the same as a table. */
export function lastDays(days: readonly Day[]): Html {
  const highest = days.reduce<Day | undefined>(
    (most, day) => (most === undefined || isMore(day, most) ? day : most),
    undefined,
  );
  if (highest === undefined || highest.deposits <= 0)
    return nothing(`No deposit was completed in the last ${days.length} days.`);
  const most = `Highest day: ${dollars(highest)} on ${highest.day}`;
  return html`${barChart({
    name: `US dollars of completed deposits on each of the last ${days.length} days. ${most}. The table below has them all.`,
    most,
    bars: days.map((day) => ({
      label: day.day,
      value: day.amount_usd,
      words: `${day.day}: ${dollars(day)}, ${countOf(day)}`,
    })),
  })}
<details><summary>The same as a table</summary>
${table('Completed deposits by day (UTC), the newest first', COLUMNS, days.toReversed())}
</details>`;
}

/** Deposits that are worth less than half a cent were completed none the less. */
const isMore = (one: Day, other: Day): boolean =>
  one.amount_usd > other.amount_usd || (one.amount_usd === other.amount_usd && one.deposits > other.deposits);

const COLUMNS: readonly Column<Day>[] = [
  { head: 'Day', cell: ({ day }) => html`<time datetime="${day}">${day}</time>` },
  { head: 'Deposits', end: true, cell: ({ deposits }) => deposits },
  { head: 'Amount', end: true, cell: (row) => usd(row.amount_usd) },
];

function dollars({ amount_usd: value }: Day): string {
  return `${value.toFixed(2)} USD`;
}

function countOf({ deposits }: Day): string {
  return deposits === 1 ? '1 deposit' : `${deposits} deposits`;
}

/** A number with what it counts; where the counting was ended, that it is no less. */
function counted({ count, at_least: atLeast }: Bounded, one: string, many: string): string {
  return `${count}${atLeast ? ' or more' : ''} ${count === 1 ? one : many}`;
}
