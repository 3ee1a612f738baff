import type { Context } from 'koa';
import { html } from './html.ts';
import { sendPage } from './layout.ts';
import { passwordPages } from './set-password.ts';

type SignInView = {
  readonly status: number;
  readonly problem?: string;
  readonly email?: string;
  readonly next?: string;
};

/**
 * The form, the same for everybody: the field of the code is always there, so that the page does not reveal
 * which accounts have one. It names no path: where PUBLIC_URL has one, what is above belongs to somebody
 * else, who must not be sent a password.
 */
function signIn(ctx: Context, view: SignInView): void {
  const body = html`<form class="card" method="post">
<h1>Sign in</h1>
${view.problem === undefined ? null : html`<p class="notice bad" role="alert">${view.problem}</p>`}
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="320" value="${view.email}"${view.email ? null : html` autofocus`}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${view.email ? html` autofocus` : null}>
<label for="totp">Code from your authenticator app, if you use one</label>
<input id="totp" name="totp" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="20">
${view.next === undefined ? null : html`<input type="hidden" name="next" value="${view.next}">`}
<button type="submit">Sign in</button>
</form>`;
  sendPage(ctx, { title: 'Sign in', status: view.status, body, hasForm: true });
}

/** `prefix` is the path of PUBLIC_URL, which stands before every path of ours. */
function signedIn(ctx: Context, { prefix }: { readonly prefix: string }): void {
  const body = html`<form class="card" method="post" action="${prefix}/logout">
<h1>You are signed in</h1>
<p>This browser may use the merchant's dashboard and API now.</p>
<p><a class="button" href="${prefix}/dashboard">Go to the dashboard</a></p>
<button type="submit">Sign out</button>
</form>`;
  sendPage(ctx, { title: 'Signed in', body, hasForm: true });
}

/** The pages around a login. Plain forms: they need no script. */
export const loginPages = { signIn, signedIn, ...passwordPages } as const;
