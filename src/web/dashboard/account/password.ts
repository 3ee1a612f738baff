import type { OwnPasswordChange, PreparedPassword } from '../../../services/access/signed-in/own-password.ts';
import { Refusal } from '../../../services/refusal.ts';
import { html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { secretField } from '../../parts/field.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { type FieldsResult, form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';
import { doneQuery } from './done.ts';

const PATH = '/account/password';
/** Passwords wait for their turn to be looked at. */
const LINE_MS = 10_000;
const MAX_PASSWORD = 1_024;
const MAX_CODE = 20;

/** The form for another password. */
export const PASSWORD_PAGE: ReadPage = {
  path: PATH,
  withoutSubscription: true,
  show: async (visit) => screen(visit, untouched(visit)),
};

type Given = Omit<Parameters<OwnPasswordChange>[1], 'site'>;

/** Changes the person's own password. The form itself asks for the present one: it needs no step-up. */
export const PASSWORD_FORM = form<Given, PreparedPassword>({
  path: PATH,
  withoutSubscription: true,
  extraMs: LINE_MS,
  fields: (_visit, values) => givenBy(values),
  prepare: async ({ door, owner, ctx, standing }, given) => {
    const seen = await door.changePassword(owner, { ...given, site: door.networkOf(ctx) });
    if (seen.kind === 'throttled') throw door.tooOften(seen.retryAfterSeconds);
    if (seen.kind === 'refused') throw wrong(standing.usesTotp);
    return seen;
  },
  apply: async ({ em }, _deps, { visit, prepared }) => {
    const changed = await prepared.apply(em);
    if (changed.kind === 'refused') throw wrong(visit.standing.usesTotp);
    return { to: visit.to('/account', doneQuery(visit, 'password')), token: changed.token };
  },
  again: async (visit, typed) => screen(visit, typed),
});

function givenBy(values: Readonly<Record<string, string>>): FieldsResult<Given> {
  const { present = '', password = '', again = '', code } = values;
  const details = [
    ...(present === '' ? [{ path: 'present', message: 'Give your present password.' }] : []),
    ...(password === '' ? [{ path: 'password', message: 'Choose a new password.' }] : []),
    ...(password !== '' && again !== password
      ? [{ path: 'again', message: 'The two passwords are not the same.' }]
      : []),
    ...(Math.max(present.length, password.length) > MAX_PASSWORD
      ? [{ path: 'password', message: `A password has at most ${MAX_PASSWORD} characters.` }]
      : []),
    ...((code ?? '').length > MAX_CODE ? [{ path: 'code', message: 'This is no code.' }] : []),
  ];
  return details.length > 0 ? { details } : { input: { present, password, totp: code } };
}

/** One answer for everything that can be wrong, so that a code cannot be tried without the password. */
function wrong(usesTotp: boolean): Refusal {
  const sentence = usesTotp
    ? 'The present password or the code is not right. A code works once: wait for the next one after it was used.'
    : 'This is not your present password.';
  return new Refusal('INVALID', sentence, 'present');
}

function screen({ to, standing }: Visit, typed: Typed): Screen {
  const { errors } = typed;
  const at = (name: string) => ({ name, error: errors[name], required: true });
  return {
    title: 'Change your password',
    body: html`${crumb(to('/account'), 'Your own sign-in')}${heading('Change your password')}
${card(html`<form method="post" action="${to(PATH)}">
${formHead(typed)}
${secretField({ ...at('present'), label: 'Your present password' }, ' type="password" autocomplete="current-password" maxlength="1024"')}
${standing.usesTotp ? secretField({ ...at('code'), label: 'Code from your authenticator app' }, ' type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="20"') : null}
${secretField({ ...at('password'), label: 'New password', hint: 'At least 12 characters' }, ' type="password" autocomplete="new-password" maxlength="1024"')}
${secretField({ ...at('again'), label: 'The same again' }, ' type="password" autocomplete="new-password" maxlength="1024"')}
<p class="muted">Every other place where you are signed in is signed out.</p>
<button type="submit">Change the password</button>
</form>`)}`,
  };
}
