import type { Mode } from '../../domain/assets.ts';
import { Html, type HtmlValue, html } from '../html.ts';
import { card } from '../parts/card.ts';
import { notice } from '../parts/notice.ts';
import { type Action, heading, type LinkTo } from './pieces.ts';
import type { DashboardPage, Screen, Visit } from './visit.ts';

/** The page of one thing: what is read of it, and the sections that show it. */
export type DetailOf<Data> = {
  readonly path: string;
  readonly only?: Mode;
  readonly back?: LinkTo;
  /** Throws NOT_FOUND where the path names nothing. */
  readonly load: (visit: Visit) => Promise<Data>;
  /** What the tab says; where there is no other heading, the page as well. */
  readonly title: string | ((data: Data, visit: Visit) => string);
  readonly heading?: (data: Data, visit: Visit) => HtmlValue;
  readonly actions?: (data: Data, visit: Visit) => readonly Action[];
  readonly sections: (data: Data, visit: Visit) => readonly (Section | readonly Section[])[];
};

/** A card with a title, or a piece of a page as it is; a list of them stands side by side. */
export type Section = Html | null | undefined | Card;
type Card = { readonly id: string; readonly title: HtmlValue; readonly body: HtmlValue };

/** The page of one thing. */
export function detail<Data>(described: DetailOf<Data>): DashboardPage {
  return {
    path: described.path,
    only: described.only,
    show: (visit) => detailScreen(visit, described),
  };
}

/** The page, or again with what was wrong with something that was asked on it. */
export async function detailScreen<Data>(
  visit: Visit,
  described: DetailOf<Data>,
  problem?: string,
): Promise<Screen> {
  const data = await described.load(visit);
  const { title, back, actions, sections } = described;
  const tab = typeof title === 'string' ? title : title(data, visit);
  const said = described.heading?.(data, visit) ?? tab;
  return {
    title: tab,
    body: html`${heading(visit, said, back, actions?.(data, visit))}
${problem === undefined ? null : notice('bad', { title: problem }, 'alert')}
${sections(data, visit).map((one) => html`${isRow(one) ? html`<div class="grid">\n${one.map(section)}\n</div>` : section(one)}\n`)}`,
  };
}

const isRow = (one: Section | readonly Section[]): one is readonly Section[] => Array.isArray(one);

function section(one: Section): HtmlValue {
  if (!one || one instanceof Html) return one;
  const { id, title, body } = one;
  return card(body, { id, title });
}
