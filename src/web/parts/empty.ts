import { type Html, type HtmlValue, html } from '../html.ts';

/** What stands where nothing is yet: what would be here, and the one thing to do next. */
export function emptyState(title: string, text: HtmlValue, action?: { href: string; label: string }): Html {
  return html`<div class="card empty">
<h2>${title}</h2>
<p class="muted">${text}</p>
${action ? html`<p><a class="button" href="${action.href}">${action.label}</a></p>` : null}
</div>`;
}
