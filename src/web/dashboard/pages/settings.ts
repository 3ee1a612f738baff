import { isoSeconds } from '../../../domain/events.ts';
import { allowNetwork, disallowNetwork, listAllowedNetworks } from '../../../services/access/allowlist.ts';
import {
  endpointsLeftBy,
  type Invitation,
  inviteUser,
  listTeam,
  prepareInvitation,
  removeUser,
  type TeamMember,
} from '../../../services/access/signed-in/team.ts';
import { renameMerchant } from '../../../services/merchants/merchants.ts';
import { foreign, type Html, html, plainText } from '../../html.ts';
import { badge } from '../../parts/badge.ts';
import { card } from '../../parts/card.ts';
import { notice } from '../../parts/notice.ts';
import { dateTime, time } from '../../parts/time.ts';
import { detail } from '../detail.ts';
import { baseOf } from '../enter.ts';
import { EMAIL, exact, text } from '../fields.ts';
import { type FormOf, form, hiddenFields } from '../form.ts';
import { type LinkTo, nothing, type Rows, tableOf, when } from '../pieces.ts';
import type { DashboardPage, Secrets, Visit } from '../visit.ts';

/** The way back to everything that can be set. */
export const SETTINGS: LinkTo = ['/settings', 'Settings'];
const ALLOWLIST: LinkTo = ['/settings/allowlist', 'Allowed networks'];

const OVERVIEW = detail({
  path: SETTINGS[0],
  load: async ({ mode }) => waysOf(mode === 'live', mode),
  title: SETTINGS[1],
  sections: (ways, { to }) => [
    card(html`<ul class="rows">
${ways.map(
  ([path, title, said]) => html`<li><a href="${to(path)}"><strong>${title}</strong></a><br>
<span class="muted">${said}</span></li>
`,
)}</ul>`),
  ],
});

function waysOf(isLive: boolean, mode: string) {
  const live = [
    ['/settings/withdraw', 'Withdraw addresses', 'Where your money is paid out to, on each network.'],
    [...ALLOWLIST, 'From where your live keys may be used.'],
  ] as const;
  return [
    ['/settings/keys', 'API keys', `With which your server calls the API in ${mode} mode.`],
    ...(isLive ? live : []),
    ['/settings/name', 'Name', 'What your customers read on the page where they pay.'],
    ['/settings/team', 'Team', 'Who signs in here.'],
    ['/settings/audit', 'Changes', 'Who changed what, from where and when.'],
    ['/account', 'Your own sign-in', 'Your password, the code from your app, and where you are signed in.'],
  ] as const;
}

const NAME = form({
  path: '/settings/name',
  guard: 'none',
  initial: ({ standing }) => ({ name: standing.merchantName }),
  shows: () => ({
    title: 'Name',
    back: SETTINGS,
    fields: [
      text('name', 'Name', ' maxlength="200"', {
        hint: 'What your customers read on the page where they pay',
        required: true,
      }),
    ],
    button: 'Save',
    isSetting: true,
  }),
  read: (_visit, values) => ({ input: values['name'] ?? '' }),
  apply: async (tx, _deps, { visit: { deps, scope }, input: name }) => {
    await renameMerchant(deps, scope.merchantId, { name }, tx);
    return SETTINGS[0];
  },
});

async function networksOf({ deps, scope }: Visit): Promise<readonly string[]> {
  return (await listAllowedNetworks(deps, { merchantId: scope.merchantId })).networks;
}

/** A form that changes from where live keys may be used, by one network. */
function allowlistForm(
  path: string,
  change: typeof allowNetwork,
  shown: Pick<FormOf<string, undefined>, 'initial' | 'shows'>,
): DashboardPage {
  return form<string>({
    ...shown,
    path,
    only: 'live',
    guard: 'always',
    read: (_visit, values) => ({ input: values['network'] ?? '' }),
    apply: async (tx, _deps, { visit: { deps, scope }, input: network }) => {
      await change(deps, { merchantId: scope.merchantId, network }, tx);
      return ALLOWLIST[0];
    },
  });
}

const ALLOW = allowlistForm(ALLOWLIST[0], allowNetwork, {
  shows: async (visit) => ({
    title: ALLOWLIST[1],
    back: SETTINGS,
    above: listed(visit, await networksOf(visit)),
    card: { id: 'allow', title: 'Allow one more' },
    fields: [
      text('network', 'Network', `${exact(60)} autocomplete="off"`, {
        hint: html`An address or a network, such as 203.0.113.7 or 203.0.113.0/24, of the server that calls the API. You yourself are at ${visit.door.networkOf(visit.ctx)}.`,
        required: true,
      }),
    ],
    button: 'Allow this network',
    isSetting: true,
  }),
});

const DISALLOW = allowlistForm(`${ALLOWLIST[0]}/remove`, disallowNetwork, {
  initial: async (visit) => {
    const network = (await networksOf(visit)).find((one) => one === visit.query['network']);
    if (network === undefined) throw visit.door.refusal('NOT_FOUND');
    return { network };
  },
  shows: async (visit, { values: { network = '' } }) => {
    const others = (await networksOf(visit)).filter((one) => one !== network);
    const last = notice('warn', {
      title: 'The list is empty then',
      text: 'With an empty list your live keys work from everywhere again.',
    });
    return {
      title: 'Take a network off the list',
      back: ALLOWLIST,
      text: html`<p>Live keys are refused from <span class="mono">${plainText(network)}</span> at once.</p>
${others.length === 0 ? last : null}`,
      fields: [hiddenFields({ network })],
      button: 'Take it off the list',
      isSetting: true,
    };
  },
});

function listed({ to }: Visit, networks: readonly string[]): Html {
  if (networks.length === 0)
    return notice('info', {
      title: 'Your live keys work from everywhere',
      text: 'Once a network is on the list, they work from those on the list alone. Put each of your servers on it, the one that calls the API first.',
    });
  const way = (network: string) =>
    html`<a href="${to(`${ALLOWLIST[0]}/remove`, { network })}" aria-label="Take off the list: ${network}">Take off the list</a>`;
  return card(
    html`${nothing('Your live keys work from here, and from nowhere else.')}
<ul class="rows">${networks.map((network) => html`<li><span class="mono">${network}</span> ${way(network)}</li>\n`)}</ul>`,
  );
}

const TEAM: LinkTo = ['/settings/team', 'Team'];

const EVERYBODY = detail({
  path: TEAM[0],
  back: SETTINGS,
  load: ({ deps, owner }) => listTeam(deps, owner),
  title: TEAM[1],
  actions: () => [{ path: '/settings/team/invite', label: 'Invite somebody' }],
  sections: (team, visit) => [
    nothing(
      'Everybody here may do everything. Whatever is about money or access asks for the password again.',
    ),
    card(tableOf(visit, 'Everybody who signs in', MEMBER_ROWS, team)),
  ],
});

const MEMBER_ROWS: Rows<TeamMember> = {
  columns: [
    {
      head: 'Email',
      cell: ({ email, isYou }) => html`${foreign(email)}${isYou ? html` ${badge('info', 'You')}` : null}`,
    },
    {
      head: 'Signs in with',
      cell: ({ totp, invitedUntil, lastLoginAt }) =>
        invitedUntil && !lastLoginAt
          ? html`${badge('warn', 'Invited')} the link opens until ${time(isoSeconds(invitedUntil))}`
          : `password${totp ? ' and code' : ''}`,
    },
    { head: 'Last sign-in', cell: (row) => when(row.lastLoginAt, (at) => time(isoSeconds(at)), 'Never') },
    {
      head: 'Change',
      cell: ({ id, email, isYou }, { to }) =>
        isYou
          ? html`<a href="${to('/account')}">Your own sign-in</a>`
          : html`<a href="${to(`${TEAM[0]}/${id}/remove`)}" aria-label="Remove ${email}">Remove</a>`,
    },
  ],
};

const INVITE = form<string, Invitation>({
  path: '/settings/team/invite',
  guard: 'in service',
  shows: () => ({
    title: 'Invite somebody',
    back: TEAM,
    text: 'You get a link to hand over: this gateway sends no mail. Who uses it may do everything that you may do.',
    fields: [text('email', 'Email', `${EMAIL} autocomplete="off"`, { required: true })],
    button: 'Make the link',
  }),
  read: (_visit, values) => ({ input: values['email'] ?? '' }),
  prepare: async ({ deps, owner, door, ctx }, email) => {
    const invitation = await prepareInvitation(deps, owner, { email, site: door.networkOf(ctx) });
    if (invitation.kind === 'throttled') throw door.tooOften(invitation.retryAfterSeconds);
    return invitation;
  },
  apply: async ({ em }, deps, { visit: { owner, door, ctx }, prepared }) => {
    const { path, expiresAt } = await inviteUser(em, deps, owner, prepared);
    const secrets: Secrets = {
      title: 'The link of the invitation',
      text: `Give it to ${prepared.email}, and to nobody else: whoever opens it first chooses the password. It works once, until ${dateTime(expiresAt.toISOString())}.`,
      items: [['Link', `${door.publicUrl(ctx)}${path}`]],
    };
    return { to: TEAM[0], secrets };
  },
});

const REMOVE = form({
  path: '/settings/team/:id/remove',
  guard: 'in service',
  shows: async ({ deps, owner, named, door, standing }) => {
    const member = (await listTeam(deps, owner)).find(({ id, isYou }) => id === named.id && !isYou);
    if (!member) throw door.refusal('NOT_FOUND');
    const urls = await endpointsLeftBy(deps, owner, member.id);
    // What a person asked for outlasts the person: whoever removes somebody has to know it.
    const asked = notice('warn', {
      title: 'This person has asked for another withdraw address',
      text: html`It will count all the same, unless it is cancelled. <a href="${door.prefix}${baseOf('live')}/settings/withdraw">Look at it, or cancel it</a>`,
    });
    const left = html` Events are still sent to the endpoints that this person set up: ${foreign(urls.join(', '))}. Delete those that are not yours.`;
    return {
      title: 'Remove somebody',
      back: TEAM,
      text: html`<p>${foreign(member.email)} is signed out everywhere and cannot sign in any more. What this person changed stays in the list of changes. Keys that this person has seen go on working: replace them if need be. So do invitations that this person has made: look in the team for whom you do not know.${urls.length === 0 ? null : left}</p>
${standing.withdrawals.pending.some(({ askedBy }) => askedBy.userId === member.id) ? asked : null}`,
      button: 'Remove this person',
    };
  },
  apply: async ({ em }, deps, { visit: { owner, named } }) => {
    await removeUser(em, deps, owner, named.id);
    return TEAM[0];
  },
});

/** What belongs to a merchant as a whole, and who signs in for it. */
export const SETTING_PAGES = [OVERVIEW, NAME, ALLOW, DISALLOW, EVERYBODY, INVITE, REMOVE];
