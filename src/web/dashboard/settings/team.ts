import { isoSeconds } from '../../../domain/events.ts';
import {
  endpointsLeftBy,
  listTeam,
  removeUser,
  type TeamMember,
} from '../../../services/access/signed-in/team.ts';
import { pendingWithdrawChanges } from '../../../services/merchants/withdraw-notices.ts';
import { foreign, type Html, html } from '../../html.ts';
import { badge } from '../../parts/badge.ts';
import { card } from '../../parts/card.ts';
import { notice } from '../../parts/notice.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { baseOf } from '../enter.ts';
import { untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';
import { questionScreen } from './question.ts';

const PATH = '/settings/team';
/** The way back to the team. */
export const TEAM = [PATH, 'Team'] as const;

/** Everybody who signs in for the merchant. */
export const TEAM_PAGE: ReadPage = {
  path: PATH,
  withoutSubscription: true,
  show: async (visit) => {
    const { deps, owner, to } = visit;
    const team = await listTeam(deps, owner);
    const invite = html`<a class="button" href="${to(`${PATH}/invite`)}">Invite somebody</a>`;
    return {
      title: TEAM[1],
      body: html`${crumb(to('/settings'), 'Settings')}${heading(TEAM[1], invite)}
<p class="muted">Everybody here may do everything. Whatever is about money or access asks for the password again.</p>
${card(table('Everybody who signs in', columns(visit), team))}`,
    };
  },
};

/** Asks before somebody is removed. */
export const REMOVE_PAGE: ReadPage = {
  path: `${PATH}/:id/remove`,
  withoutSubscription: true,
  show: async (visit) => await removeScreen(visit, untouched(visit)),
};

/** Ends everything by which somebody of the team signs in. */
export const REMOVE_FORM = form({
  path: REMOVE_PAGE.path,
  withoutSubscription: true,
  guarded: true,
  fields: () => ({ input: undefined }),
  apply: async ({ em }, deps, { visit: { owner, params, to } }) => {
    await removeUser(em, deps, owner, params['id'] ?? '');
    return { to: to(PATH) };
  },
  again: async (visit, typed) => await removeScreen(visit, typed),
});

function columns({ to }: Visit): readonly Column<TeamMember>[] {
  return [
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
    {
      head: 'Last sign-in',
      cell: ({ lastLoginAt }) => (lastLoginAt ? time(isoSeconds(lastLoginAt)) : 'Never'),
    },
    {
      head: 'Change',
      cell: ({ id, email, isYou }) =>
        isYou
          ? html`<a href="${to('/account')}">Your own sign-in</a>`
          : html`<a href="${to(`${PATH}/${id}/remove`)}" aria-label="Remove ${email}">Remove</a>`,
    },
  ];
}

/** What a person asked for outlasts the person: whoever removes somebody has to know it. */
function stillCounts(prefix: string): Html {
  return notice('warn', {
    title: 'This person has asked for another withdraw address',
    text: html`It will count all the same, unless it is cancelled. <a href="${prefix}${baseOf('live')}/settings/withdraw">Look at it, or cancel it</a>`,
  });
}

async function removeScreen(visit: Visit, typed: Typed): Promise<Screen> {
  const { deps, owner, params, door } = visit;
  const member = (await listTeam(deps, owner)).find(({ id, isYou }) => id === params['id'] && !isYou);
  if (!member) throw door.refusal('NOT_FOUND');
  const { pending } = await pendingWithdrawChanges(deps, owner.merchantId);
  const urls = await endpointsLeftBy(deps, owner, member.id);
  const hasAsked = pending.some(({ askedBy }) => askedBy.userId === member.id);
  return questionScreen(visit, typed, {
    title: 'Remove somebody',
    back: TEAM,
    path: `${PATH}/${member.id}/remove`,
    text: html`<p>${foreign(member.email)} is signed out everywhere and cannot sign in any more. What this person changed stays in the list of changes. Keys that this person has seen go on working: replace them if need be. So do invitations that this person has made: look in the team for whom you do not know.${urls.length === 0 ? null : html` Events are still sent to the endpoints that this person set up: ${foreign(urls.join(', '))}. Delete those that are not yours.`}</p>
${hasAsked ? stillCounts(door.prefix) : null}`,
    button: 'Remove this person',
    guarded: true,
  });
}
