import { chainOf } from '../../../chains/index.ts';
import { NETWORKS, type Network } from '../../../domain/assets.ts';
import {
  askWithdrawChange,
  type CheckedChange,
  checkWithdrawChange,
} from '../../../services/merchants/withdraw-changes.ts';
import { pendingWithdrawChanges, withdrawAddresses } from '../../../services/merchants/withdraw-notices.ts';
import { type Html, html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { checkboxes, textField } from '../../parts/field.ts';
import { formHead, guardFields, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';
import { guarding } from './guarded.ts';
import { questionScreen } from './question.ts';
import { spokenDelay, WITHDRAW } from './withdraw.ts';

const PATH = '/settings/withdraw/:network';
/** How long a chain may take to say whether code runs at an address. */
const CHAIN_MS = 10_500;
const KNOWN = 'allow_contract';
/** The member that a ticked box posts. */
const TICKED = `${KNOWN}.yes`;

/** The form for another withdraw address, with the present one beside it. */
export const WITHDRAW_CHANGE_PAGE: ReadPage = {
  path: PATH,
  only: 'live',
  withoutSubscription: true,
  show: async (visit) => await screen(visit, untouched(visit)),
};

type Asked = { readonly network: Network; readonly address: string; readonly allowContract: boolean };

/** Asks for another withdraw address, which counts after the delay. */
export const WITHDRAW_CHANGE_FORM = form<Asked, CheckedChange>({
  path: PATH,
  only: 'live',
  withoutSubscription: true,
  guarded: true,
  extraMs: CHAIN_MS,
  fields: (visit, values) => {
    const address = values['address']?.trim() ?? '';
    if (address === '') return { details: [{ path: 'address', message: 'Give the new address.' }] };
    return { input: { network: networkOf(visit), address, allowContract: values[TICKED] === 'on' } };
  },
  prepare: ({ door }, asked) => checkWithdrawChange(door.chains, asked),
  apply: async (tx, _deps, { visit, prepared }) => await ask(tx, visit, prepared),
  again: async (visit, typed) => await screen(visit, typed),
});

/** Asks before a withdraw address is taken away. */
export const TAKE_AWAY_PAGE: ReadPage = {
  path: `${PATH}/remove`,
  only: 'live',
  withoutSubscription: true,
  show: async (visit) => await takeAwayScreen(visit, untouched(visit)),
};

/** Asks for no withdraw address, which counts after the delay. */
export const TAKE_AWAY_FORM = form<Network>({
  path: TAKE_AWAY_PAGE.path,
  only: 'live',
  withoutSubscription: true,
  guarded: true,
  fields: (visit) => ({ input: networkOf(visit) }),
  apply: async (tx, _deps, { visit, input: network }) =>
    await ask(tx, visit, { network, address: null, contractAllowed: false }),
  again: async (visit, typed) => await takeAwayScreen(visit, typed),
});

async function ask(tx: Parameters<typeof guarding>[0], visit: Visit, asked: CheckedChange) {
  await askWithdrawChange(visit.deps, visit.scope.merchantId, asked, guarding(tx, visit));
  return { to: visit.to(WITHDRAW[0]) };
}

/** The network that the address of the page names. Throws the door's NOT_FOUND for any other word. */
function networkOf({ params, door }: Visit): Network {
  const network = NETWORKS.find((one) => one === params['network']);
  if (!network) throw door.refusal('NOT_FOUND');
  return network;
}

async function screen(visit: Visit, typed: Typed): Promise<Screen> {
  const network = networkOf(visit);
  const { label } = chainOf(network);
  const { deps, to } = visit;
  const { values, errors } = typed;
  const title = `Withdraw address on ${label}`;
  const isDoubted = errors[KNOWN] !== undefined || values[TICKED] === 'on';
  return {
    title,
    body: html`${crumb(to(WITHDRAW[0]), WITHDRAW[1])}${heading(title)}
${card(html`<form method="post" action="${to(`${WITHDRAW[0]}/${network}`)}">
${formHead(typed)}
${await presentFacts(visit, network)}
${textField({ name: 'address', label: 'New address', hint: `An address on ${label} whose key you hold. Copy it from your wallet, and compare its first and last characters. Not one of an exchange that changes addresses.`, value: values['address'], error: errors['address'], required: true }, ' maxlength="100" spellcheck="false" autocapitalize="none" autocomplete="off"')}
${isDoubted ? known(errors[KNOWN], values[TICKED] === 'on') : null}
<p>It counts ${spokenDelay(deps.settings.withdrawChangeDelayMs)} from now. Until then nothing changes, and everybody of your team can cancel it.</p>
${guardFields(visit, typed)}
<button type="submit">Ask for this address</button>
</form>`)}`,
  };
}

/** What stands at present beside what is typed, and what waits already. */
async function presentFacts({ deps, scope }: Visit, network: Network): Promise<Html> {
  const [present, { pending }] = await Promise.all([
    withdrawAddresses(deps, scope.merchantId),
    pendingWithdrawChanges(deps, scope.merchantId),
  ]);
  const waits = pending.find((change) => change.network === network);
  const shown = (address: string | null) =>
    address === null ? 'No address' : html`<span class="mono">${address}</span>`;
  return html`<dl class="facts"><dt>Counts at present</dt><dd>${shown(present[network])}</dd>
${waits ? html`<dt>Waits, and is replaced by a new one</dt><dd>${shown(waits.address)}</dd>` : null}</dl>`;
}

function known(error: string | undefined, checked: boolean): Html {
  return checkboxes({ name: KNOWN, label: 'This may be a contract', error }, [
    { value: 'yes', label: 'I hold the key of what lies there, and it takes such payments', checked },
  ]);
}

async function takeAwayScreen(visit: Visit, typed: Typed): Promise<Screen> {
  const network = networkOf(visit);
  const { label } = chainOf(network);
  const delay = spokenDelay(visit.deps.settings.withdrawChangeDelayMs);
  return questionScreen(visit, typed, {
    title: `Take away the address on ${label}`,
    back: WITHDRAW,
    path: `${WITHDRAW[0]}/${network}/remove`,
    text: html`${await presentFacts(visit, network)}
<p>Counts ${delay} from now: from then on nothing is paid out on ${label}, and your money stays with this gateway until you set another address.</p>`,
    button: 'Take it away',
    guarded: true,
  });
}
