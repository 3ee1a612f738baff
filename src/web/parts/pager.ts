import { type Html, html } from '../html.ts';

/** Where a list goes on, and how many rows it has. */
export type Pager = {
  readonly newer: string | undefined;
  readonly older: string | undefined;
  readonly total: number;
  /** There may be more than `total`: it was not worth counting them. */
  readonly atLeast?: boolean;
  readonly noun: readonly [one: string, many: string];
  /** Where the same rows are to be had as CSV. */
  readonly csv?: string | undefined;
};

/** The total as the API tells it, and links to what comes before and after. */
export function pager({ newer, older, total, atLeast = false, noun, csv }: Pager): Html {
  const label = `Pages of ${noun[1]}`;
  return html`<nav class="pager" aria-label="${label}">
<span class="muted">${atLeast ? 'More than ' : ''}${total} ${total === 1 && !atLeast ? noun[0] : noun[1]}</span>
<div>
${csv === undefined ? null : html`<a class="button quiet" href="${csv}" download>Export CSV</a>`}
${newer === undefined ? null : html`<a class="button quiet" rel="prev" href="${newer}">Newer</a>`}
${older === undefined ? null : html`<a class="button quiet" rel="next" href="${older}">Older</a>`}
</div>
</nav>`;
}
