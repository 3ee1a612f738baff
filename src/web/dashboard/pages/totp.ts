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
import { html } from '../../html.ts';
import { copyable } from '../../parts/copyable.ts';
import { time } from '../../parts/time.ts';
import { qrCode } from '../../qr.ts';
import { CODE, secret } from '../fields.ts';
import { type FormParts, form, formScreen } from '../form.ts';
import type { Visit } from '../visit.ts';
import { ACCOUNT, doneWay } from './account.ts';

const AROUND = { title: 'Code from an app', back: ACCOUNT } as const;
const BEGIN = { path: '/account/totp/begin', guard: 'in service' } as const;

const BEGIN_TOTP = form({
  ...BEGIN,
  byButton: true,
  shows: beginning,
  apply: async ({ em }, deps, { visit: { owner } }) => {
    await beginTotp(em, deps, owner);
    return '/account/totp';
  },
});

/** From now on codes of the secret that waits are asked for; where none waits, one can be made. */
const CONFIRM_TOTP = form<string, Counted>({
  path: '/account/totp',
  guard: 'in service',
  shows: async (visit, typed) => {
    const pending = await pendingTotp(visit.deps, visit.owner);
    return pending ? confirming(pending) : formScreen(visit, typed, { ...BEGIN, shows: beginning });
  },
  read: (_visit, values) => {
    const code = values['code']?.replaceAll(' ', '') ?? '';
    if (/^\d{6}$/.test(code)) return { input: code };
    return { details: [{ path: 'code', message: 'Give the six digits that your app shows.' }] };
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
    return { to: doneWay(visit, 'totp-on'), token: result.token };
  },
});

function beginning({ standing, to }: Visit): FormParts {
  const [text, button] = standing.usesTotp
    ? [
        html`<p>A code of your app is asked for when you sign in. Set up another app here; until it has given its first code, the present one counts.</p>
<p><a href="${to('/account/totp/end')}">Ask for no code any more</a></p>`,
        'Set up another app',
      ]
    : [
        html`<p>An authenticator app on your phone shows a new code every 30 seconds. Who steals your password alone cannot sign in with it then.</p>
<p>If you lose your phone, ask the operator of this gateway: they can take the app away from your sign-in.</p>`,
        'Set up an app',
      ];
  return { ...AROUND, text, button };
}

function confirming({ uri, secret: key, expiresAt }: PendingTotp): FormParts {
  return {
    ...AROUND,
    text: html`<ol>
<li>Scan this with your authenticator app, or type the secret into it.</li>
<li>Give the code that it shows. From then on it is asked for.</li>
</ol>
${qrCode(uri, 'QR code of the secret for your authenticator app')}
<p>Secret: ${copyable(key, { id: 'totp-secret', name: 'secret for your authenticator app' })}</p>
<p class="muted">It waits until ${time(expiresAt.toISOString())}.</p>`,
    fields: [secret('code', 'Code that your app shows now', CODE)],
    button: 'Ask for codes from now on',
  };
}

const END_TOTP = form({
  path: '/account/totp/end',
  guard: 'in service',
  shows: ({ standing, door }, { problem }) => {
    if (!standing.usesTotp && problem === undefined) throw door.refusal('NOT_FOUND');
    return {
      title: 'Ask for no code any more',
      back: ACCOUNT,
      text: 'From now on your password alone signs you in. Every other place where you are signed in is signed out.',
      button: 'Ask for no code any more',
    };
  },
  apply: async ({ em }, deps, { visit }) => {
    const { token } = await endOwnTotp(em, deps, visit.owner);
    return { to: doneWay(visit, 'totp-off'), token };
  },
});

/** The code from an app, which is asked for besides the password. */
export const TOTP_PAGES = [BEGIN_TOTP, CONFIRM_TOTP, END_TOTP];
