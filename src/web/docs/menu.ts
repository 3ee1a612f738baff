import { type Html, html } from '../html.ts';
import { SENT } from './events.ts';
import type { Guide } from './guides.ts';
import { type ApiDocument, anchorOfTag, type Route } from './model.ts';

/** What the frame of a page is made of: every page of the documentation, and which one this is. */
export type MenuInput = {
  readonly document: ApiDocument;
  readonly routes: readonly Route[];
  readonly guides: readonly Guide[];
  /** Where `/docs` is for the reader's browser. */
  readonly docs: string;
  /** The last part of the page's path; empty for the reference. */
  readonly current: string;
  /** What was searched for. */
  readonly query?: string;
};

/**
 * What stands before every page: search, and the way to the others. On a phone the way is folded behind a
 * summary; it follows the summary instead of standing in it, so that a wide screen shows it always, and
 * without script.
 */
export function frameOf(input: MenuInput): Html {
  const { document, docs, query = '' } = input;
  return html`<header class="top">
<a class="brand" href="${docs}">${document.info.title}</a>
<form role="search" action="${docs}/search" method="get"><input type="search" name="q" value="${query}" maxlength="200" placeholder="Search" aria-label="Search the documentation" autocomplete="off"></form>
</header>
<details class="menu"><summary>Menu</summary></details>
<nav aria-label="Documentation">
<ul>
${input.guides.map((guide) => guideEntry(input, guide))}</ul>
${referenceMenu(input)}
</nav>`;
}

function guideEntry({ docs, current }: MenuInput, { name, title, headings }: Guide): Html {
  const isHere = name === current;
  const below = isHere ? headings.filter(({ depth }) => depth === 2) : [];
  return html`<li><a href="${docs}/${name}"${isHere ? html` aria-current="page"` : null}>${title}</a>${
    below.length === 0
      ? null
      : html`<ul>${below.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>`
  }</li>\n`;
}

/** The routes stand in the menu of the reference only: on a guide they would be most of the page. */
function referenceMenu({ document, routes, docs, current }: MenuInput): Html {
  const isHere = current === '';
  const groups = document.tags.map(({ name }) => {
    const rows = routes.flatMap(({ method, path, operation }) =>
      operation.tags?.[0] === name
        ? [
            html`<li><a href="#${operation.operationId}"><span class="verb ${method}">${method.toUpperCase()}</span> ${path}</a></li>\n`,
          ]
        : [],
    );
    const sent = name === SENT ? Object.entries(document.webhooks) : [];
    rows.push(...sent.map(([type, { post }]) => html`<li><a href="#${post.operationId}">${type}</a></li>\n`));
    if (rows.length === 0) return null;
    return html`<li><a class="group" href="${isHere ? '' : docs}#${anchorOfTag(name)}">${name}</a>${isHere ? html`<ul>${rows}</ul>` : null}</li>\n`;
  });
  return html`<ul>
<li><a href="${docs}"${isHere ? html` aria-current="page"` : null}>Reference</a></li>
${groups}<li><a href="${docs}/schemas"${current === 'schemas' ? html` aria-current="page"` : null}>Schemas</a></li>
</ul>`;
}
