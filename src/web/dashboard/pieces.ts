import type { Mode } from '../../domain/assets.ts';
import { foreign, type Html, type HtmlValue, html, plainText } from '../html.ts';
import { amount } from '../parts/amount.ts';
import { copyable } from '../parts/copyable.ts';
import { emptyState } from '../parts/empty.ts';
import { type Column, table } from '../parts/table.ts';
import { time } from '../parts/time.ts';
import type { Query, Visit } from './visit.ts';

/** A page to which another one leads, by its path without the mode. */
export type LinkTo = readonly [path: string, label: string];

/** The path of this very page: with what the visit's path names in it. */
export function pathOf(pattern: string, { params }: Visit): string {
  return pattern.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** Something to do beside a heading: a page that leads on. */
export type Action = {
  readonly path: string;
  readonly query?: Query;
  readonly label: string;
  /** What it is called where the label alone does not say it. */
  readonly name?: string;
  readonly quiet?: true;
  readonly only?: Mode;
};

/** The heading of a page below the way back, with what can be done there beside it. */
export function heading(
  visit: Visit,
  title: HtmlValue,
  back?: LinkTo,
  actions: readonly Action[] = [],
): Html {
  const buttons = actionsOf(visit, actions);
  return html`${back && html`<p class="crumbs"><a href="${visit.to(back[0])}">← ${back[1]}</a></p>\n`}<div class="heading"><h1>${title}</h1>${buttons.length === 0 ? null : html`<div class="actions">${buttons}</div>`}</div>
`;
}

/** Actions of the page's mode as buttons. */
export function actionsOf({ to, mode }: Visit, actions: readonly Action[]): Html[] {
  return actions
    .filter(({ only }) => only === undefined || only === mode)
    .map(
      ({ path, query, label, name, quiet }) =>
        html`<a class="button${quiet ? ' quiet' : ''}" href="${to(path, query)}"${name === undefined ? null : html` aria-label="${name}"`}>${label}</a>\n`,
    );
}

/** What stands where the first row will be, and what to do next. */
export type Empty = { readonly title: string; readonly text: string; readonly way: LinkTo };

/** What stands where nothing is yet, as a card. */
export function emptyOf({ to }: Visit, { title, text, way: [path, label] }: Empty): Html {
  return emptyState(title, text, { href: to(path), label });
}

/** Rows of one kind, as every table shows them; the first cell leads to the row's own page. */
export type Rows<Row> = {
  readonly columns: readonly ColumnOf<Row>[];
  readonly link?: (row: Row) => string;
};
/** A column whose cells know who looks at them. */
export type ColumnOf<Row> = Omit<Column<Row>, 'cell'> & {
  readonly cell: (row: Row, visit: Visit) => HtmlValue;
};

/** A column of amounts, each with its coin; a dash where there is none yet. */
export function coins<Row>(
  head: string,
  of: (row: Row) => readonly [units: string | null, currency: string],
): ColumnOf<Row> {
  const cell = (row: Row) => {
    const [units, currency] = of(row);
    return when(units, (there) => amount(there, currency), '–');
  };
  return { head, end: true, cell };
}

/** A table of these rows; where there is none, what is said instead. */
export function tableOf<Row>(
  visit: Visit,
  caption: HtmlValue,
  { columns, link }: Rows<Row>,
  rows: readonly Row[],
  none?: HtmlValue,
): Html {
  if (rows.length === 0 && none !== undefined) return nothing(none);
  const bound = columns.map((column, index) => ({
    ...column,
    cell: (row: Row) => {
      const shown = column.cell(row, visit);
      return link && index === 0 ? html`<a href="${visit.to(link(row))}">${shown}</a>` : shown;
    },
  }));
  return table(caption, bound, rows);
}

/** Names and values of one thing; what is null is left out. */
export function facts(rows: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  const shown = rows.filter(([, value]) => value !== null);
  return html`<dl class="facts">${shown.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/** What is said of a value that is there, and what otherwise. */
export function when<T>(
  value: T | null,
  say: (value: T) => HtmlValue,
  otherwise: HtmlValue = null,
): HtmlValue {
  return value === null ? otherwise : say(value);
}

/** A time where there is one. */
export const timeOf = (iso: string | null): HtmlValue => when(iso, time);

/** A stranger's text where there is one. */
export const textOf = (text: string | null, otherwise: string | null = null): HtmlValue =>
  when(text, foreign, otherwise);

/** A text to be copied, where there is one; `id` is unique in the page, `name` says what it is. */
export function copyOf(value: string | null, id: string, name: string): Html | null {
  return value === null ? null : copyable(value, { id, name });
}

/** What a merchant has stored with something, to be opened; null where there is nothing. */
export function metadataOf(value: Readonly<Record<string, unknown>>): Html | null {
  if (Object.keys(value).length === 0) return null;
  return html`<details><summary>Show</summary><pre class="body" tabindex="0" role="group" aria-label="Metadata">${plainText(JSON.stringify(value, null, 2))}</pre></details>`;
}

/** What a section says where it has nothing to show. */
export function nothing(text: HtmlValue): Html {
  return html`<p class="muted">${text}</p>`;
}
