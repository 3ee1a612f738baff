import type { OwnPasswordChange, PreparedPassword } from '../../../services/access/signed-in/own-password.ts';
import {
  endOtherSessions,
  endOwnSession,
  listOwnSessions,
  type SessionView,
} from '../../../services/access/signed-in/own-sessions.ts';
import { Refusal } from '../../../services/refusal.ts';
import { foreign, type Html, html } from '../../html.ts';
import { badge } from '../../parts/badge.ts';
import { card } from '../../parts/card.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';
import { type DetailOf, detail, detailScreen } from '../detail.ts';
import { CODE, NEW_PASSWORD, PRESENT_PASSWORD, secret } from '../fields.ts';
import { actButton, form } from '../form.ts';
import { facts, type LinkTo, nothing, type Rows, tableOf } from '../pieces.ts';
import type { DashboardPage, Reading, Values, Visit } from '../visit.ts';
import { SETTINGS } from './settings.ts';

/** The way back to a person's own sign-in. */
export const ACCOUNT: LinkTo = ['/account', 'Your own sign-in'];

/** How a person signs in, and where. */
const SIGN_IN: DetailOf<readonly SessionView[]> = {
  path: ACCOUNT[0],
  back: SETTINGS,
  load: ({ deps, owner }) => listOwnSessions(deps, owner),
  title: ACCOUNT[1],
  sections: (sessions, visit) => {
    const { to, standing } = visit;
    const done = doneWords(visit);
    const [asked, change] = standing.usesTotp
      ? [badge('good', 'Asked for'), 'Change it']
      : [badge('plain', 'Not asked for'), 'Set it up'];
    return [
      done === undefined ? null : notice('good', { title: done }),
      card(
        facts([
          ['Email', foreign(standing.email)],
          ['Password', html`<a href="${to('/account/password')}">Change your password</a>`],
          ['Code from an app', html`${asked} <a href="${to('/account/totp')}">${change}</a>`],
        ]),
      ),
      { id: 'sessions', title: 'Where you are signed in', body: sessionList(visit, sessions) },
    ];
  },
};

function sessionList(visit: Visit, sessions: readonly SessionView[]): Html {
  const path = '/account/sessions/end-others';
  const others = sessions.some(({ current }) => !current);
  return html`${tableOf(visit, 'Your sign-ins, the latest first', SESSION_ROWS, sessions)}
${others ? actButton(visit, { path, label: 'End all others' }) : nothing('You are signed in nowhere else.')}`;
}

const SESSION_ROWS: Rows<SessionView> = {
  columns: [
    {
      head: 'From',
      cell: ({ from, current }) =>
        html`${from ?? 'Not noted'}${current ? html` ${badge('info', 'This one')}` : null}`,
    },
    { head: 'Signed in', cell: (row) => time(row.created_at) },
    { head: 'Last used', cell: (row) => time(row.last_seen_at) },
    {
      head: 'End',
      cell: ({ id, from, current }, visit) => {
        const name = `End this sign-in from ${from ?? 'an unknown place'}`;
        const path = `/account/sessions/${id}/end`;
        return current ? 'Sign out above' : actButton(visit, { path, label: 'End this', name });
      },
    },
  ],
};

const END_OTHERS = form({
  path: '/account/sessions/end-others',
  guard: 'none',
  byButton: true,
  shows: (visit, { problem }) => detailScreen(visit, SIGN_IN, problem),
  apply: async (tx, _deps, { visit: { deps, owner } }) => {
    await endOtherSessions(deps, owner, tx);
    return ACCOUNT[0];
  },
});

const END_SESSION = form({
  path: '/account/sessions/:id/end',
  guard: 'none',
  byButton: true,
  shows: (visit, { problem }) => detailScreen(visit, SIGN_IN, problem),
  apply: async (tx, _deps, { visit: { deps, owner, named } }) => {
    await endOwnSession(deps, owner, named.id, tx);
    return ACCOUNT[0];
  },
});

/** Passwords wait for their turn to be looked at. */
const LINE_MS = 10_000;
const MAX_PASSWORD = 1_024;
const MAX_CODE = 20;

type Given = Omit<Parameters<OwnPasswordChange>[1], 'site'>;

/** Changes the person's own password. The form itself asks for the present one: it needs no step-up. */
const PASSWORD = form<Given, PreparedPassword>({
  path: '/account/password',
  guard: 'none',
  extraMs: LINE_MS,
  shows: ({ standing }) => ({
    title: 'Change your password',
    back: ACCOUNT,
    fields: [
      secret('present', 'Your present password', PRESENT_PASSWORD),
      standing.usesTotp ? secret('code', 'Code from your authenticator app', CODE) : null,
      secret('password', 'New password', NEW_PASSWORD, 'At least 12 characters'),
      secret('again', 'The same again', NEW_PASSWORD),
      nothing('Every other place where you are signed in is signed out.'),
    ],
    button: 'Change the password',
  }),
  read: (_visit, values) => givenBy(values),
  prepare: async ({ door, owner, ctx, standing }, given) => {
    const seen = await door.changePassword(owner, { ...given, site: door.networkOf(ctx) });
    if (seen.kind === 'throttled') throw door.tooOften(seen.retryAfterSeconds);
    if (seen.kind === 'refused') throw wrong(standing.usesTotp);
    return seen;
  },
  apply: async ({ em }, _deps, { visit, prepared }) => {
    const changed = await prepared.apply(em);
    if (changed.kind === 'refused') throw wrong(visit.standing.usesTotp);
    return { to: doneWay(visit, 'password'), token: changed.token };
  },
});

function givenBy(values: Values): Reading<Given> {
  const { present = '', password = '', again = '', code } = values;
  const isLong = Math.max(present.length, password.length) > MAX_PASSWORD;
  const wrongs: readonly (readonly [isWrong: boolean, path: string, message: string])[] = [
    [present === '', 'present', 'Give your present password.'],
    [password === '', 'password', 'Choose a new password.'],
    [password !== '' && again !== password, 'again', 'The two passwords are not the same.'],
    [isLong, 'password', `A password has at most ${MAX_PASSWORD} characters.`],
    [(code ?? '').length > MAX_CODE, 'code', 'This is no code.'],
  ];
  const details = wrongs.filter(([isWrong]) => isWrong).map(([, path, message]) => ({ path, message }));
  return details.length > 0 ? { details } : { input: { present, password, totp: code } };
}

/** One answer for everything that can be wrong, so that a code cannot be tried without the password. */
function wrong(usesTotp: boolean): Refusal {
  const said = usesTotp
    ? 'The present password or the code is not right. A code works once: wait for the next one after it was used.'
    : 'This is not your present password.';
  return new Refusal('INVALID', said, 'present');
}

const DONE = {
  password: 'Your password is changed. You are signed out everywhere else.',
  'totp-on': 'From now on a code of your app is asked for. You are signed out everywhere else.',
  'totp-off': 'No code is asked for any more. You are signed out everywhere else.',
} as const;
type Changed = keyof typeof DONE;

/** For how long an address says what was done. */
const SAID_MS = 60_000;

/**
 * Where a person goes on after a change, so that the page says it was made. Nobody else can write it: a
 * link of a stranger must not tell people that their password is another one. It says so for a minute: the
 * same form posted again leads there still when another change has followed.
 */
export function doneWay(visit: Visit, done: Changed): string {
  const at = visit.deps.now().toISOString();
  return `${ACCOUNT[0]}?${new URLSearchParams({ done, at, by: sealOf(visit, done, at) })}`;
}

/** What was done a moment ago, in words; undefined where nothing was, or somebody else says so. */
function doneWords(visit: Visit): string | undefined {
  const { done, at, by } = visit.query;
  if (typeof done !== 'string' || typeof at !== 'string' || by !== sealOf(visit, done, at)) return undefined;
  const age = visit.deps.now().getTime() - Date.parse(at);
  return age >= 0 && age < SAID_MS ? DONE[done as Changed] : undefined;
}

function sealOf({ deps, owner }: Visit, change: string, at: string): string {
  return deps.secretBox.keyedHash(JSON.stringify([owner.sessionId, change, at]), 'done');
}

/** A person's own sign-in, but for the code from an app. */
export const ACCOUNT_PAGES: readonly DashboardPage[] = [detail(SIGN_IN), END_OTHERS, END_SESSION, PASSWORD];
