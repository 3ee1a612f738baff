import type { OverviewView } from '../../../services/overview/overview.ts';
import { type Html, html } from '../../html.ts';
import { time } from '../../parts/time.ts';
import { WHO } from '../payouts/wait.ts';
import type { Visit } from '../visit.ts';
import { counted } from './counted.ts';

type Waiting = OverviewView['waiting'];

/** What has not come to its end yet, each with whom it waits for. What waits for the merchant comes first. */
export function waiting(visit: Visit, view: Waiting): Html {
  const lines = [...payouts(visit, view), ...failed(visit, view), ...others(visit, view)];
  if (lines.length === 0) return html`<p class="muted">Nothing waits at the moment.</p>`;
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
  const line = (title: string, href: string, words: string, oldest: string | null) =>
    html`<strong>${title}</strong><br><a href="${href}">${words}</a>${oldest === null ? null : html` <span class="muted">the oldest since ${time(oldest)}</span>`}`;
  return [
    ...(unconfirmed.count === 0
      ? []
      : [
          line(
            'It waits for the chain',
            to('/deposits'),
            counted(unconfirmed, 'deposit that is not confirmed', 'deposits that are not confirmed'),
            unconfirmed.oldest,
          ),
        ]),
    ...(unpaid.count === 0
      ? []
      : [
          line(
            'To be paid out',
            to('/deposits', { status: 'completed' }),
            counted(unpaid, 'completed deposit', 'completed deposits'),
            unpaid.oldest,
          ),
        ]),
    ...(open.count === 0
      ? []
      : [
          line(
            'It waits for payers',
            to('/links'),
            counted(open, 'payment link that can still be paid', 'payment links that can still be paid'),
            null,
          ),
        ]),
  ];
}
