import type { Context } from 'koa';
import { scriptOf } from './assets/assets.ts';
import { html } from './html.ts';
import { sendPage } from './layout.ts';

type ChooseView = { readonly status: number; readonly problem?: string; readonly code?: string };

/**
 * The form, the same for every link and for none: the server sees the code only when it is posted. It names
 * no path, so that it also works where PUBLIC_URL has one.
 */
function choose(ctx: Context, view: ChooseView): void {
  const body = html`<form class="card" method="post">
<h1>Choose your password</h1>
${view.problem === undefined ? null : html`<p class="notice bad" role="alert">${view.problem}</p>`}
<div id="by-hand">
<label for="code">Your link, or the code in it behind the #</label>
<input id="code" name="code" type="text" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="2048" value="${view.code}">
</div>
<label for="password">New password, at least 12 characters</label>
<input id="password" name="password" type="password" autocomplete="new-password" required maxlength="1024">
<label for="again">The same again</label>
<input id="again" name="again" type="password" autocomplete="new-password" required maxlength="1024">
<button type="submit">Set password</button>
<p class="muted">Every place where you are signed in is signed out.</p>
</form>`;
  sendPage(ctx, {
    title: 'Choose your password',
    status: view.status,
    body,
    hasForm: true,
    scripts: [scriptOf('code', '')],
  });
}

function chosen(ctx: Context): void {
  const body = html`<div class="card">
<h1>Your password is set</h1>
<p>The link has done its work and opens nothing any more.</p>
<p><a class="button" href="login">Sign in</a></p>
</div>`;
  sendPage(ctx, { title: 'Password set', body });
}

/** The pages of a link that sets a password. */
export const passwordPages = { choose, chosen } as const;
