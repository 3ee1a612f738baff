import { type Invitation, inviteUser, prepareInvitation } from '../../../services/access/signed-in/team.ts';
import { html } from '../../html.ts';
import { textField } from '../../parts/field.ts';
import { dateTime } from '../../parts/time.ts';
import { untouched } from '../forms.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';
import { questionScreen } from './question.ts';
import { TEAM } from './team.ts';

const PATH = '/settings/team/invite';

/** The form for somebody new in the team. */
export const INVITE_PAGE: ReadPage = {
  path: PATH,
  withoutSubscription: true,
  show: async (visit) => screen(visit, untouched(visit)),
};

/** Makes a user, and the one link by which that person chooses a password. It is shown once. */
export const INVITE_FORM = form<string, Invitation>({
  path: PATH,
  withoutSubscription: true,
  guarded: true,
  fields: (_visit, values) => ({ input: values['email'] ?? '' }),
  prepare: async ({ deps, owner, door, ctx }, email) => {
    const invitation = await prepareInvitation(deps, owner, { email, site: door.networkOf(ctx) });
    if (invitation.kind === 'throttled') throw door.tooOften(invitation.retryAfterSeconds);
    return invitation;
  },
  apply: async ({ em }, deps, { visit: { owner, door, ctx, to }, prepared }) => {
    const { path, expiresAt } = await inviteUser(em, deps, owner, prepared);
    return {
      to: to(TEAM[0]),
      secrets: {
        title: 'The link of the invitation',
        text: `Give it to ${prepared.email}, and to nobody else: whoever opens it first chooses the password. It works once, until ${dateTime(expiresAt.toISOString())}.`,
        items: [{ label: 'Link', value: `${door.publicUrl(ctx)}${path}` }],
      },
    };
  },
  again: async (visit, typed) => screen(visit, typed),
});

function screen(visit: Visit, typed: Typed): Screen {
  const { values, errors } = typed;
  return questionScreen(visit, typed, {
    title: 'Invite somebody',
    back: TEAM,
    path: PATH,
    text: html`<p>You get a link to hand over: this gateway sends no mail. Who uses it may do everything that you may do.</p>`,
    fields: textField(
      { name: 'email', label: 'Email', value: values['email'], error: errors['email'], required: true },
      ' type="email" maxlength="320" autocomplete="off"',
    ),
    button: 'Make the link',
    guarded: true,
  });
}
