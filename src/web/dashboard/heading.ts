import { type Html, type HtmlValue, html } from '../html.ts';

/** The heading of a page, with what can be done there beside it. */
export function heading(title: HtmlValue, actions?: HtmlValue): Html {
  return html`<div class="heading"><h1>${title}</h1>${actions === undefined ? null : html`<div class="actions">${actions}</div>`}</div>
`;
}

/** The way back to the list that a page belongs to. */
export function crumb(href: string, label: string): Html {
  return html`<p class="crumbs"><a href="${href}">← ${label}</a></p>
`;
}
