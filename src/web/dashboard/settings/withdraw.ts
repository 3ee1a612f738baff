import { chainOf } from '../../../chains/index.ts';
import { NETWORKS, type Network } from '../../../domain/assets.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { cancelWithdrawChange } from '../../../services/merchants/withdraw-changes.ts';
import {
  pendingWithdrawChanges,
  type WithdrawChangeView,
  type WithdrawNotices,
  withdrawAddresses,
} from '../../../services/merchants/withdraw-notices.ts';
import { foreign, type Html, html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { copyable } from '../../parts/copyable.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';
import { untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';
import { questionScreen } from './question.ts';

const PATH = '/settings/withdraw';
/** The way back to where withdraw addresses stand. */
export const WITHDRAW = [PATH, 'Withdraw addresses'] as const;

/** Where money is paid out to, and what waits to take its place. */
export const WITHDRAW_PAGE: ReadPage = {
  path: PATH,
  only: 'live',
  withoutSubscription: true,
  show: async (visit) => await screen(visit),
};

/** Asks before a change that waits is taken back. */
export const CANCEL_PAGE: ReadPage = {
  path: `${PATH}/:id/cancel`,
  only: 'live',
  withoutSubscription: true,
  show: async (visit) => {
    const change = await pendingOf(visit);
    if (!change) throw visit.door.refusal('NOT_FOUND');
    return cancelScreen(visit, untouched(visit), change);
  },
};

/** Takes a change back that waits. It needs no password: it only keeps what is so. */
export const CANCEL_FORM = form({
  path: CANCEL_PAGE.path,
  only: 'live',
  withoutSubscription: true,
  fields: () => ({ input: undefined }),
  apply: async ({ em }, _deps, { visit: { deps, scope, params, to } }) => {
    await cancelWithdrawChange(deps, scope.merchantId, { id: params['id'] ?? '' }, { em });
    return { to: to(PATH) };
  },
  again: async (visit, typed) => {
    const change = await pendingOf(visit);
    return change ? cancelScreen(visit, typed, change) : await screen(visit, typed.problem);
  },
});

async function pendingOf({ deps, scope, params }: Visit): Promise<WithdrawChangeView | undefined> {
  const { pending } = await pendingWithdrawChanges(deps, scope.merchantId);
  return pending.find(({ id }) => id === params['id']);
}

async function screen({ deps, scope, to }: Visit, problem?: string): Promise<Screen> {
  const [present, notices] = await Promise.all([
    withdrawAddresses(deps, scope.merchantId),
    pendingWithdrawChanges(deps, scope.merchantId),
  ]);
  return {
    title: WITHDRAW[1],
    body: html`${crumb(to('/settings'), 'Settings')}${heading(WITHDRAW[1])}
${problem === undefined ? null : notice('bad', { title: problem }, 'alert')}
<p class="muted">Completed deposits are paid out to these addresses by themselves. A change counts ${spokenDelay(deps.settings.withdrawChangeDelayMs)} after it was asked for, so that you can stop one that you do not know.</p>
<div class="grid">
${NETWORKS.map((network) => networkCard({ to, now: deps.now() }, network, present[network], notices))}</div>`,
  };
}

type At = Pick<Visit, 'to'> & { readonly now: Date };

function networkCard(at: At, network: Network, present: string | null, { pending }: WithdrawNotices): Html {
  const { to } = at;
  const { label } = chainOf(network);
  const change = pending.find((one) => one.network === network);
  const shown =
    present === null
      ? html`<p>No address is set: your money on ${label} stays with this gateway.</p>`
      : html`<p>${copyable(present, { id: `present-${network}`, name: `withdraw address on ${label}` })}</p>`;
  const verb = present === null ? 'Set an address' : 'Change';
  return card(
    html`${shown}
${change ? waiting(at, change) : null}
<div class="actions"><a class="button quiet" href="${to(`${PATH}/${network}`)}" aria-label="${verb} on ${label}">${verb}</a>
${present === null ? null : html`<a class="button quiet" href="${to(`${PATH}/${network}/remove`)}" aria-label="Take away on ${label}">Take away</a>`}</div>`,
    { id: `on-${network}`, title: label },
  );
}

function waiting({ to, now }: At, change: WithdrawChangeView): Html {
  const { id, address, countsAt, askedAt, askedBy, askedFrom } = change;
  const by = askedBy.email === null ? 'somebody who has left' : foreign(askedBy.email);
  return notice('warn', {
    title:
      countsAt <= now
        ? html`Due since ${time(isoSeconds(countsAt))}, and does not count yet`
        : html`Counts from ${time(isoSeconds(countsAt))}`,
    text: html`<p>${address === null ? 'No address: nothing is paid out any more.' : html`<span class="mono">${address}</span>`}</p>
<p>Asked for by ${by} from ${askedFrom} at ${time(isoSeconds(askedAt))}.</p>
<p><a href="${to(`${PATH}/${id}/cancel`)}">Cancel this change</a></p>`,
  });
}

function cancelScreen(visit: Visit, typed: Typed, { id, network, address }: WithdrawChangeView): Screen {
  const { label } = chainOf(network);
  const what =
    address === null
      ? html`The address on ${label} stays: it is not taken away.`
      : html`Payouts on ${label} do not go to <span class="mono">${address}</span>: what is set at present stays.`;
  return questionScreen(visit, typed, {
    title: 'Cancel a change',
    back: WITHDRAW,
    path: `${PATH}/${id}/cancel`,
    text: html`<p>${what}</p>
<p>If nobody of you asked for this change, somebody else has a password of yours: change it, and look at who is in your team.</p>`,
    button: 'Cancel the change',
    guarded: false,
  });
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** A delay as a sentence has it. */
export function spokenDelay(ms: number): string {
  const [count, unit] = ms >= HOUR_MS ? [ms / HOUR_MS, 'hour'] : [ms / MINUTE_MS, 'minute'];
  const whole = Math.ceil(count);
  return `${whole} ${unit}${whole === 1 ? '' : 's'}`;
}
