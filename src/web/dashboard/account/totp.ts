import {
  beginTotp,
  confirmTotp,
  endOwnTotp,
  type PendingTotp,
  pendingTotp,
} from '../../../services/access/signed-in/own-totp.ts';
import { countTry } from '../../../services/access/signed-in/step-up.ts';
import type { Counted } from '../../../services/access/throttle.ts';
import { Refusal } from '../../../services/refusal.ts';
import { type Html, html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { copyable } from '../../parts/copyable.ts';
import { secretField } from '../../parts/field.ts';
import { time } from '../../parts/time.ts';
import { qrCode } from '../../qr.ts';
import { formHead, guardFields, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { questionScreen } from '../settings/question.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';
import { doneQuery } from './done.ts';

const PATH = '/account/totp';
const TITLE = 'Code from an app';
const ACCOUNT = ['/account', 'Your own sign-in'] as const;

/** Whether a code is asked for; the new secret while it waits for its first code. */
export const TOTP_PAGE: ReadPage = {
  path: PATH,
  withoutSubscription: true,
  show: async (visit) => await screen(visit, untouched(visit)),
};

/** Makes a secret that waits for its first code. */
export const BEGIN_TOTP_FORM = form({
  path: `${PATH}/begin`,
  withoutSubscription: true,
  guarded: true,
  fields: () => ({ input: undefined }),
  apply: async ({ em }, deps, { visit: { owner, to } }) => {
    await beginTotp(em, deps, owner);
    return { to: to(PATH) };
  },
  again: async (visit, typed) => beginScreen(visit, typed),
});

/** From now on codes of the secret that waits are asked for. */
export const CONFIRM_TOTP_FORM = form<string, Counted>({
  path: PATH,
  withoutSubscription: true,
  guarded: true,
  fields: (_visit, values) => {
    const code = values['code']?.replaceAll(' ', '') ?? '';
    if (!/^\d{6}$/.test(code))
      return { details: [{ path: 'code', message: 'Give the six digits that your app shows.' }] };
    return { input: code };
  },
  prepare: async ({ deps, owner, door, ctx }) => {
    const counted = await countTry(deps, owner, door.networkOf(ctx));
    if (counted.kind === 'throttled') throw door.tooOften(counted.retryAfterSeconds);
    return counted;
  },
  apply: async ({ em }, deps, { visit, input: code, prepared: counted }) => {
    const result = await confirmTotp(em, deps, visit.owner, { code, counted });
    if (result.kind === 'none')
      throw new Refusal('INVALID', 'This secret has expired. Begin again, and scan the new one.');
    if (result.kind === 'refused')
      throw new Refusal(
        'INVALID',
        'This is not a code of the new secret. See that the clock of your phone is right, and take the next code.',
        'code',
      );
    return { to: visit.to('/account', doneQuery(visit, 'totp-on')), token: result.token };
  },
  again: async (visit, typed) => await screen(visit, typed),
});

/** Asks before no code is asked for any more. */
export const END_TOTP_PAGE: ReadPage = {
  path: `${PATH}/end`,
  withoutSubscription: true,
  show: async (visit) => {
    if (!visit.standing.usesTotp) throw visit.door.refusal('NOT_FOUND');
    return endScreen(visit, untouched(visit));
  },
};

/** From now on no code is asked for. */
export const END_TOTP_FORM = form({
  path: END_TOTP_PAGE.path,
  withoutSubscription: true,
  guarded: true,
  fields: () => ({ input: undefined }),
  apply: async ({ em }, deps, { visit }) => {
    const { token } = await endOwnTotp(em, deps, visit.owner);
    return { to: visit.to('/account', doneQuery(visit, 'totp-off')), token };
  },
  again: async (visit, typed) => endScreen(visit, typed),
});

async function screen(visit: Visit, typed: Typed): Promise<Screen> {
  const pending = await pendingTotp(visit.deps, visit.owner);
  return pending ? pendingScreen(visit, typed, pending) : beginScreen(visit, typed);
}

function around({ to }: Visit, body: Html): Screen {
  return { title: TITLE, body: html`${crumb(to(ACCOUNT[0]), ACCOUNT[1])}${heading(TITLE)}\n${body}` };
}

function beginScreen(visit: Visit, typed: Typed): Screen {
  const { standing, to } = visit;
  const text = standing.usesTotp
    ? html`<p>A code of your app is asked for when you sign in. Set up another app here; until it has given its first code, the present one counts.</p>
<p><a href="${to(`${PATH}/end`)}">Ask for no code any more</a></p>`
    : html`<p>An authenticator app on your phone shows a new code every 30 seconds. Who steals your password alone cannot sign in with it then.</p>
<p>If you lose your phone, ask the operator of this gateway: they can take the app away from your sign-in.</p>`;
  return around(
    visit,
    card(html`<form method="post" action="${to(`${PATH}/begin`)}">
${formHead(typed)}
${text}
${guardFields(visit, typed)}
<button type="submit">${standing.usesTotp ? 'Set up another app' : 'Set up an app'}</button>
</form>`),
  );
}

function pendingScreen(visit: Visit, typed: Typed, { uri, secret, expiresAt }: PendingTotp): Screen {
  return around(
    visit,
    card(html`<ol>
<li>Scan this with your authenticator app, or type the secret into it.</li>
<li>Give the code that it shows. From then on it is asked for.</li>
</ol>
${qrCode(uri, 'QR code of the secret for your authenticator app')}
<p>Secret: ${copyable(secret, { id: 'totp-secret', name: 'secret for your authenticator app' })}</p>
<p class="muted">It waits until ${time(expiresAt.toISOString())}.</p>
<form method="post" action="${visit.to(PATH)}">
${formHead(typed)}
${secretField({ name: 'code', label: 'Code that your app shows now', error: typed.errors['code'], required: true }, ' type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="20"')}
${guardFields(visit, typed)}
<button type="submit">Ask for codes from now on</button>
</form>`),
  );
}

function endScreen(visit: Visit, typed: Typed): Screen {
  return questionScreen(visit, typed, {
    title: 'Ask for no code any more',
    back: ACCOUNT,
    path: `${PATH}/end`,
    text: html`<p>From now on your password alone signs you in. Every other place where you are signed in is signed out.</p>`,
    button: 'Ask for no code any more',
    guarded: true,
  });
}
