import { type Html, type HtmlValue, html, plainText } from '../html.ts';

/** Names and values of one thing; what is null is left out. */
export function factList(rows: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  const shown = rows.filter(([, value]) => value !== null);
  return html`<dl class="facts">${shown.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/** What a merchant has stored with something, to be opened; null where there is nothing. */
export function metadataOf(value: Readonly<Record<string, unknown>>): Html | null {
  if (Object.keys(value).length === 0) return null;
  return html`<details><summary>Show</summary><pre class="body" tabindex="0" role="group" aria-label="Metadata">${plainText(JSON.stringify(value, null, 2))}</pre></details>`;
}
