import { allowNetwork, disallowNetwork, listAllowedNetworks } from '../../../services/access/allowlist.ts';
import { type Html, html, plainText } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { textField } from '../../parts/field.ts';
import { notice } from '../../parts/notice.ts';
import { formHead, guardFields, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';
import { guarding } from './guarded.ts';
import { questionScreen } from './question.ts';

const PATH = '/settings/allowlist';
const TITLE = 'Allowed networks';

/** From where live keys may be used, and the form for one more network. */
export const ALLOWLIST_PAGE: ReadPage = {
  path: PATH,
  only: 'live',
  withoutSubscription: true,
  show: async (visit) => await screen(visit, untouched(visit)),
};

/** Lets live keys be used from one more network. */
export const ALLOWLIST_FORM = listForm(PATH, allowNetwork, screen);

/** Asks before a network is taken off the list. */
export const NOT_ALLOWED_PAGE: ReadPage = {
  path: `${PATH}/remove`,
  only: 'live',
  withoutSubscription: true,
  show: async (visit) => {
    const network = visit.query['network'];
    const listed = (await networksOf(visit)).find((one) => one === network);
    if (listed === undefined) throw visit.door.refusal('NOT_FOUND');
    return await removeScreen(visit, untouched(visit), listed);
  },
};

/** Takes a network off the list. */
export const NOT_ALLOWED_FORM = listForm(NOT_ALLOWED_PAGE.path, disallowNetwork, (visit, typed) =>
  removeScreen(visit, typed, typed.values['network'] ?? ''),
);

/** A form that changes the list by one network. */
function listForm(
  path: string,
  change: typeof allowNetwork,
  again: (visit: Visit, typed: Typed) => Promise<Screen>,
) {
  return form<string>({
    path,
    only: 'live',
    withoutSubscription: true,
    guarded: true,
    fields: (_visit, values) => ({ input: values['network'] ?? '' }),
    apply: async (tx, _deps, { visit, input: network }) => {
      const { deps, scope, to } = visit;
      await change(deps, { merchantId: scope.merchantId, network }, guarding(tx, visit));
      return { to: to(PATH) };
    },
    again,
  });
}

async function networksOf({ deps, scope }: Visit): Promise<readonly string[]> {
  return (await listAllowedNetworks(deps, { merchantId: scope.merchantId })).networks;
}

async function screen(visit: Visit, typed: Typed): Promise<Screen> {
  const { to, door, ctx } = visit;
  const { values, errors } = typed;
  const hint = html`An address or a network, such as 203.0.113.7 or 203.0.113.0/24, of the server that calls the API. You yourself are at ${door.networkOf(ctx)}.`;
  return {
    title: TITLE,
    body: html`${crumb(to('/settings'), 'Settings')}${heading(TITLE)}
${listed(visit, await networksOf(visit))}
${card(
  html`<form method="post" action="${to(PATH)}" data-again>
${formHead(typed)}
${textField({ name: 'network', label: 'Network', hint, value: values['network'], error: errors['network'], required: true }, ' maxlength="60" spellcheck="false" autocapitalize="none" autocomplete="off"')}
${guardFields(visit, typed)}
<button type="submit">Allow this network</button>
</form>`,
  { id: 'allow', title: 'Allow one more' },
)}`,
  };
}

function listed({ to }: Visit, networks: readonly string[]): Html {
  if (networks.length === 0)
    return notice('info', {
      title: 'Your live keys work from everywhere',
      text: 'Once a network is on the list, they work from those on the list alone. Put each of your servers on it, the one that calls the API first.',
    });
  const way = (network: string) =>
    html`<a href="${to(`${PATH}/remove`, { network })}" aria-label="Take off the list: ${network}">Take off the list</a>`;
  return card(
    html`<p class="muted">Your live keys work from here, and from nowhere else.</p>
<ul class="rows">${networks.map((network) => html`<li><span class="mono">${network}</span> ${way(network)}</li>\n`)}</ul>`,
  );
}

async function removeScreen(visit: Visit, typed: Typed, network: string): Promise<Screen> {
  const others = (await networksOf(visit)).filter((one) => one !== network);
  return questionScreen(visit, typed, {
    title: 'Take a network off the list',
    back: [PATH, TITLE],
    path: `${PATH}/remove`,
    text: html`<p>Live keys are refused from <span class="mono">${plainText(network)}</span> at once.</p>
${others.length === 0 ? notice('warn', { title: 'The list is empty then', text: 'With an empty list your live keys work from everywhere again.' }) : null}`,
    fields: html`<input type="hidden" name="network" value="${network}">`,
    button: 'Take it off the list',
    guarded: true,
    isSetting: true,
  });
}
