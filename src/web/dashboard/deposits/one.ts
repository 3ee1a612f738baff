import { chainOf, type ExplorerUrls, explorerLink } from '../../../chains/index.ts';
import type { DepositView } from '../../../contract/deposit.ts';
import { confirmationsText } from '../../../domain/deposit.ts';
import { type DepositStory, depositStory } from '../../../services/deposits/story/story.ts';
import { foreign, type Html, html } from '../../html.ts';
import { amount, usd } from '../../parts/amount.ts';
import { card } from '../../parts/card.ts';
import { copyable } from '../../parts/copyable.ts';
import { notice } from '../../parts/notice.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { noDeliveries, sentColumns } from '../events/sent.ts';
import { factList } from '../facts.ts';
import { crumb, heading } from '../heading.ts';
import { waitLine } from '../payouts/wait.ts';
import { depositBadge, payoutBadge } from '../states.ts';
import type { ReadPage, Visit } from '../visit.ts';
import { payer } from './list.ts';
import { stateWords, timeline } from './timeline.ts';

/** One deposit: where it stands, and everything that has happened to it, in order. */
export const DEPOSIT_PAGE: ReadPage = {
  path: '/deposits/:id',
  show: async (visit) => {
    const { door, scope, params, to } = visit;
    // As expensive as a list, for a deposit of which much was sent: so it has its turn like one.
    const story = await door.readList(scope.merchantId, (deps) =>
      depositStory(deps, { ...scope, id: params['id'] ?? '' }),
    );
    const { deposit } = story;
    const title = html`${amount(deposit.amount, deposit.currency)} ${depositBadge(deposit.status)}`;
    return {
      title: `Deposit of ${deposit.amount} ${deposit.currency}`,
      body: html`${crumb(to('/deposits'), 'Deposits')}${heading(title)}
${standing(story)}
<div class="grid">
${card(facts(visit, deposit), { id: 'facts', title: 'The deposit' })}
${card(payout(visit, story), { id: 'payout', title: 'Payout' })}
</div>
${card(timeline(visit, story), { id: 'timeline', title: 'What happened, the oldest first' })}
${card(webhooks(visit, story), { id: 'webhooks', title: 'Webhooks' })}`,
    };
  },
};

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

function facts({ to, deps }: Visit, deposit: DepositView): Html {
  const { payment_token: token, rate_usd: rate, rate_at: rateAt } = deposit;
  const priced = rate === null ? null : html`${rate} USD for one ${deposit.currency}`;
  return factList([
    ['Customer', html`<a href="${to(`/customers/${deposit.customer_id}`)}">${payer(deposit)}</a>`],
    [
      'Payment link',
      token === null ? null : html`<a href="${to('/links', { search: token })}">The link that it pays</a>`,
    ],
    ['Network', chainOf(deposit.network).label],
    ['Worth', deposit.amount_usd === null ? 'Not known yet' : usd(deposit.amount_usd)],
    [
      'Price',
      priced &&
        html`${priced}${deposit.rate_source === null ? null : html` (${foreign(deposit.rate_source)})`}${rateAt === null ? null : html`, ${time(rateAt)}`}`,
    ],
    ['Seen', time(deposit.detected_at)],
    ['Completed', deposit.completed_at === null ? null : time(deposit.completed_at)],
    ['Paid out', deposit.settled_at === null ? null : time(deposit.settled_at)],
    ['Confirmations', confirmationsText(deposit.confirmations, deposit.required_confirmations)],
    ['Block', deposit.block_hash === null ? `${deposit.block_number}, replaced` : deposit.block_number],
    ['Sent to', copyable(deposit.address, { id: 'to-address', name: 'address that received it' })],
    [
      'Sent from',
      deposit.from_address === null
        ? 'Several addresses, or not known'
        : copyable(deposit.from_address, { id: 'from-address', name: 'address that sent it' }),
    ],
    ['Transaction', copyable(deposit.transaction_hash, { id: 'hash', name: 'transaction hash' })],
    ['Look it up', lookedUp(deps.settings.explorerUrls, deposit)],
    [
      'Contract',
      deposit.contract_address && copyable(deposit.contract_address, { id: 'contract', name: 'contract' }),
    ],
    ['Id', copyable(deposit.id, { id: 'deposit-id', name: 'id' })],
  ]);
}

/** Nothing of test mode is on a chain. */
function lookedUp(explorers: ExplorerUrls, deposit: DepositView): Html | null {
  const { is_live: isLive, network, transaction_hash: hash } = deposit;
  const url = isLive ? explorerLink(explorers, network, 'transaction', hash) : null;
  return url === null
    ? null
    : html`<a href="${url}" rel="noopener noreferrer nofollow">The transaction in an explorer</a>`;
}

function payout({ to }: Visit, { payout: paid, deposit }: DepositStory): Html {
  if (paid === null) return html`<p class="muted">${unpaid(deposit)}</p>`;
  const { id, state, fee, net } = paid;
  return html`<p>${payoutBadge(state)} ${paid.words}</p>
${factList([
  [
    'Paid to',
    paid.destination === null
      ? null
      : copyable(paid.destination, { id: 'destination', name: 'your withdraw address' }),
  ],
  ['The whole payout', paid.gross === null ? null : amount(paid.gross, paid.currency)],
  ['You got', net === null ? null : amount(net, paid.currency)],
  ['It cost', fee === null ? null : amount(fee, paid.fee_currency)],
  ['Of it for this deposit', deposit.settlement && amount(deposit.settlement.amount, deposit.currency)],
  ['Paid', paid.settled_at === null ? null : time(paid.settled_at)],
  [
    'Transaction',
    paid.transaction_hash &&
      copyable(paid.transaction_hash, { id: 'payout-hash', name: 'transaction of the payout' }),
  ],
])}
${id === null ? null : html`<p><a href="${to(`/payouts/${id}`)}">Look at the payout</a></p>`}`;
}

function webhooks(visit: Visit, { events }: DepositStory): Html {
  const rows = events.flatMap(({ deliveries }) => deliveries);
  const named = events.map(({ id, event }) => html`<a href="${visit.to(`/events/${id}`)}">${event}</a>`);
  const [oldest] = events;
  if (!oldest) return html`<p class="muted">No event of it is here.</p>`;
  if (rows.length > 0) return table('Deliveries, the oldest first', sentColumns(visit, 'briefly'), rows);
  return html`<p>${noDeliveries(visit, oldest.at)} The events: ${named.map((link, index) => html`${index === 0 ? null : ', '}${link}`)}</p>
<p><a href="${visit.to('/endpoints')}">Look at the endpoints</a></p>`;
}

function unpaid({ status }: DepositView): string {
  if (status === 'failed') return 'What failed is not paid out.';
  return status === 'completed' ? 'No payout is planned yet.' : 'It can be paid out once it is completed.';
}
