import { type Html, type HtmlValue, html } from '../html.ts';

/** A column: its heading, what stands in it for a row, and whether it is a figure. */
export type Column<Row> = {
  readonly head: string;
  readonly cell: (row: Row) => HtmlValue;
  readonly end?: true;
};

/**
 * A table for wide screens that is a list on a phone: each cell then has its heading in front of it. The
 * roles are written out, because a browser forgets that it is a table when it is laid out as a list.
 */
export function table<Row>(caption: HtmlValue, columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  const side = (column: Column<Row>) => (column.end ? html` class="end"` : null);
  return html`<table class="table" role="table">
<caption class="hidden">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(
    (column) => html`<th role="columnheader" scope="col"${side(column)}>${column.head}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (row) =>
    html`<tr role="row">${columns.map(
      (column) =>
        html`<td role="cell" data-label="${column.head}"${side(column)}><span>${column.cell(row)}</span></td>`,
    )}</tr>
`,
)}</tbody>
</table>`;
}
