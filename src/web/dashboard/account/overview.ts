import { listOwnSessions, type SessionView } from '../../../services/access/signed-in/own-sessions.ts';
import { foreign, type Html, html } from '../../html.ts';
import { badge } from '../../parts/badge.ts';
import { card } from '../../parts/card.ts';
import { notice } from '../../parts/notice.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import type { ReadPage, Screen, Visit } from '../visit.ts';
import { doneWords } from './done.ts';

const PATH = '/account';

/** How a person signs in, and where. */
export const ACCOUNT_PAGE: ReadPage = {
  path: PATH,
  withoutSubscription: true,
  show: (visit) => accountScreen(visit),
};

/** The page, or again with what was wrong with something that was asked on it. */
export async function accountScreen(visit: Visit, problem?: string): Promise<Screen> {
  const { deps, owner, to, standing } = visit;
  const sessions = await listOwnSessions(deps, owner);
  const done = doneWords(visit);
  return {
    title: 'Your own sign-in',
    body: html`${crumb(to('/settings'), 'Settings')}${heading('Your own sign-in')}
${problem === undefined ? null : notice('bad', { title: problem }, 'alert')}
${done === undefined ? null : notice('good', { title: done })}
${card(html`<dl class="facts"><dt>Email</dt><dd>${foreign(standing.email)}</dd>
<dt>Password</dt><dd><a href="${to('/account/password')}">Change your password</a></dd>
<dt>Code from an app</dt><dd>${standing.usesTotp ? badge('good', 'Asked for') : badge('plain', 'Not asked for')} <a href="${to('/account/totp')}">${standing.usesTotp ? 'Change it' : 'Set it up'}</a></dd></dl>`)}
${card(sessionList(visit, sessions), { id: 'sessions', title: 'Where you are signed in' })}`,
  };
}

function sessionList(visit: Visit, sessions: readonly SessionView[]): Html {
  const { to } = visit;
  const others = sessions.filter(({ current }) => !current);
  return html`${table('Your sign-ins, the latest first', columns(visit), sessions)}
${
  others.length === 0
    ? html`<p class="muted">You are signed in nowhere else.</p>`
    : html`<form method="post" action="${to('/account/sessions/end-others')}" data-again>
${formHead(untouched(visit))}
<button type="submit">End all others</button>
</form>`
}`;
}

function columns(visit: Visit): readonly Column<SessionView>[] {
  return [
    {
      head: 'From',
      cell: ({ from, current }) =>
        html`${from ?? 'Not noted'}${current ? html` ${badge('info', 'This one')}` : null}`,
    },
    { head: 'Signed in', cell: (row) => time(row.created_at) },
    { head: 'Last used', cell: (row) => time(row.last_seen_at) },
    {
      head: 'End',
      cell: ({ id, from, current }) =>
        current
          ? 'Sign out above'
          : html`<form method="post" action="${visit.to(`/account/sessions/${id}/end`)}">
${formHead(untouched(visit))}
<button class="quiet" type="submit" aria-label="End this sign-in from ${from ?? 'an unknown place'}">End this</button>
</form>`,
    },
  ];
}
