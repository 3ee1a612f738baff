import { chainOf } from '../../../chains/index.ts';
import { NETWORKS, type Network } from '../../../domain/assets.ts';
import { isoSeconds } from '../../../domain/events.ts';
import {
  askWithdrawChange,
  type CheckedChange,
  cancelWithdrawChange,
  checkWithdrawChange,
} from '../../../services/merchants/withdraw-changes.ts';
import {
  pendingWithdrawChanges,
  type WithdrawChangeView,
  withdrawAddresses,
} from '../../../services/merchants/withdraw-notices.ts';
import type { Tx } from '../../../services/transact.ts';
import { foreign, type Html, html } from '../../html.ts';
import { copyable } from '../../parts/copyable.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';
import { type DetailOf, detail, detailScreen, type Section } from '../detail.ts';
import { boxes, exact, text } from '../fields.ts';
import { form } from '../form.ts';
import { actionsOf, facts, type LinkTo, nothing } from '../pieces.ts';
import type { Visit } from '../visit.ts';
import { SETTINGS } from './settings.ts';

const WITHDRAW: LinkTo = ['/settings/withdraw', 'Withdraw addresses'];
/** How long a chain may take to say whether code runs at an address. */
const CHAIN_MS = 10_500;
const KNOWN = 'allow_contract';
/** The member that a ticked box posts. */
const TICKED = `${KNOWN}.yes`;

/** Where money is paid out to, and what waits to take its place. */
const ADDRESSES: DetailOf<Awaited<ReturnType<typeof standOf>>> = {
  path: WITHDRAW[0],
  only: 'live',
  back: SETTINGS,
  load: standOf,
  title: WITHDRAW[1],
  sections: ({ present, pending }, visit) => [
    nothing(
      `Completed deposits are paid out to these addresses by themselves. A change counts ${delayOf(visit)} after it was asked for, so that you can stop one that you do not know.`,
    ),
    NETWORKS.map((network) => {
      const change = pending.find((one) => one.network === network);
      return networkSection(visit, network, present[network], change);
    }),
  ],
};

/** What counts and what waits by now: somebody may have asked for another while a form was on its way. */
async function standOf({ deps, scope: { merchantId } }: Visit) {
  const present = await withdrawAddresses(deps, merchantId);
  return { present, pending: (await pendingWithdrawChanges(deps, merchantId)).pending };
}

function networkSection(
  visit: Visit,
  network: Network,
  present: string | null,
  change: WithdrawChangeView | undefined,
): Section {
  const { label } = chainOf(network);
  const shown =
    present === null
      ? `No address is set: your money on ${label} stays with this gateway.`
      : copyable(present, { id: `present-${network}`, name: `withdraw address on ${label}` });
  const verb = present === null ? 'Set an address' : 'Change';
  const path = `${WITHDRAW[0]}/${network}`;
  const ways = [
    { path, label: verb, name: `${verb} on ${label}`, quiet: true },
    { path: `${path}/remove`, label: 'Take away', name: `Take away on ${label}`, quiet: true },
  ] as const;
  const body = html`<p>${shown}</p>
${change ? waiting(visit, change) : null}
<div class="actions">${actionsOf(visit, present === null ? ways.slice(0, 1) : ways)}</div>`;
  return { id: `on-${network}`, title: label, body };
}

function waiting({ to, deps }: Visit, change: WithdrawChangeView): Html {
  const { id, address, countsAt, askedAt, askedBy, askedFrom } = change;
  const by = askedBy.email === null ? 'somebody who has left' : foreign(askedBy.email);
  const counts = time(isoSeconds(countsAt));
  return notice('warn', {
    title:
      countsAt <= deps.now()
        ? html`Due since ${counts}, and does not count yet`
        : html`Counts from ${counts}`,
    text: html`<p>${address === null ? 'No address: nothing is paid out any more.' : html`<span class="mono">${address}</span>`}</p>
<p>Asked for by ${by} from ${askedFrom} at ${time(isoSeconds(askedAt))}.</p>
<p><a href="${to(`${WITHDRAW[0]}/${id}/cancel`)}">Cancel this change</a></p>`,
  });
}

/** Takes a change back that waits. It needs no password: it only keeps what is so. */
const CANCEL = form({
  path: `${WITHDRAW[0]}/:id/cancel`,
  only: 'live',
  guard: 'none',
  shows: async (visit, { problem }) => {
    const change = (await standOf(visit)).pending.find(({ id }) => id === visit.named.id);
    if (!change && problem === undefined) throw visit.door.refusal('NOT_FOUND');
    if (!change) return await detailScreen(visit, ADDRESSES, problem);
    const { label } = chainOf(change.network);
    const what =
      change.address === null
        ? html`The address on ${label} stays: it is not taken away.`
        : html`Payouts on ${label} do not go to <span class="mono">${change.address}</span>: what is set at present stays.`;
    return {
      title: 'Cancel a change',
      back: WITHDRAW,
      text: html`<p>${what}</p>
<p>If nobody of you asked for this change, somebody else has a password of yours: change it, and look at who is in your team.</p>`,
      button: 'Cancel the change',
    };
  },
  apply: async (tx, _deps, { visit: { deps, named } }) => {
    await cancelWithdrawChange(deps, named.merchantId, { id: named.id }, tx);
    return WITHDRAW[0];
  },
});

type Asked = { readonly network: Network; readonly address: string; readonly allowContract: boolean };

const CHANGE = form<Asked, CheckedChange>({
  path: `${WITHDRAW[0]}/:network`,
  only: 'live',
  guard: 'always',
  extraMs: CHAIN_MS,
  shows: async (visit, { values, errors }) => {
    const network = networkOf(visit);
    const { label } = chainOf(network);
    const isDoubted = errors[KNOWN] !== undefined || values[TICKED] === 'on';
    const knows = 'I hold the key of what lies there, and it takes such payments';
    return {
      title: `Withdraw address on ${label}`,
      back: WITHDRAW,
      text: await presentFacts(visit, network),
      fields: [
        text('address', 'New address', `${exact(100)} autocomplete="off"`, {
          hint: `An address on ${label} whose key you hold. Copy it from your wallet, and compare its first and last characters. Not one of an exchange that changes addresses.`,
          required: true,
        }),
        isDoubted ? boxes(KNOWN, 'This may be a contract', [{ value: 'yes', label: knows }]) : null,
        html`<p>It counts ${delayOf(visit)} from now. Until then nothing changes, and everybody of your team can cancel it.</p>`,
      ],
      button: 'Ask for this address',
    };
  },
  read: (visit, values) => {
    const address = values['address']?.trim() ?? '';
    if (address === '') return { details: [{ path: 'address', message: 'Give the new address.' }] };
    return { input: { network: networkOf(visit), address, allowContract: values[TICKED] === 'on' } };
  },
  prepare: ({ door }, asked) => checkWithdrawChange(door.chains, asked),
  apply: async (tx, _deps, { visit, prepared }) => await ask(tx, visit, prepared),
});

const TAKE_AWAY = form<Network>({
  path: `${WITHDRAW[0]}/:network/remove`,
  only: 'live',
  guard: 'always',
  shows: async (visit) => {
    const network = networkOf(visit);
    const { label } = chainOf(network);
    return {
      title: `Take away the address on ${label}`,
      back: WITHDRAW,
      text: html`${await presentFacts(visit, network)}
<p>Counts ${delayOf(visit)} from now: from then on nothing is paid out on ${label}, and your money stays with this gateway until you set another address.</p>`,
      button: 'Take it away',
    };
  },
  read: (visit) => ({ input: networkOf(visit) }),
  apply: async (tx, _deps, { visit, input: network }) =>
    await ask(tx, visit, { network, address: null, contractAllowed: false }),
});

async function ask(tx: Tx, { deps, scope }: Visit, asked: CheckedChange): Promise<string> {
  await askWithdrawChange(deps, scope.merchantId, asked, tx);
  return WITHDRAW[0];
}

/** The network that the address of the page names. Throws the door's NOT_FOUND for any other word. */
function networkOf({ params, door }: Visit): Network {
  const network = NETWORKS.find((one) => one === params['network']);
  if (!network) throw door.refusal('NOT_FOUND');
  return network;
}

/** What stands at present beside what is typed, and what waits already. */
async function presentFacts(visit: Visit, network: Network): Promise<Html> {
  const { present, pending } = await standOf(visit);
  const waits = pending.find((change) => change.network === network);
  const shown = (address: string | null) =>
    address === null ? 'No address' : html`<span class="mono">${address}</span>`;
  return facts([
    ['Counts at present', shown(present[network])],
    ['Waits, and is replaced by a new one', waits ? shown(waits.address) : null],
  ]);
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The delay of a change as a sentence has it. */
function delayOf({ deps }: Visit): string {
  const ms = deps.settings.withdrawChangeDelayMs;
  const [count, unit] = ms >= HOUR_MS ? [ms / HOUR_MS, 'hour'] : [ms / MINUTE_MS, 'minute'];
  const whole = Math.ceil(count);
  return `${whole} ${unit}${whole === 1 ? '' : 's'}`;
}

/** Money's way out: it belongs to live mode alone. */
export const WITHDRAW_PAGES = [detail(ADDRESSES), CANCEL, CHANGE, TAKE_AWAY];
