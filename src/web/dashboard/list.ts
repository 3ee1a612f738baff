import type { z } from 'zod';
import type { PageMembers } from '../../contract/common.ts';
import { type FiltersOf, filtersOf, pageOf } from '../../contract/list-query.ts';
import type { Deps } from '../../services/deps.ts';
import type { PageOf } from '../../services/lists/page.ts';
import type { PageRequest } from '../../services/lists/query.ts';
import { Refusal } from '../../services/refusal.ts';
import type { Scope } from '../../services/scope.ts';
import { type Html, html } from '../html.ts';
import { emptyState } from '../parts/empty.ts';
import { notice } from '../parts/notice.ts';
import { pager } from '../parts/pager.ts';
import { type Column, table } from '../parts/table.ts';
import { atField } from './forms.ts';
import { heading } from './heading.ts';
import type { Screen, Visit } from './visit.ts';

/** A list of the API as a page: the same filters, the same total, the same cursors. */
export type ListPage<Query extends PageMembers, Row extends { readonly id: string }> = {
  readonly path: string;
  readonly title: string;
  readonly noun: readonly [one: string, many: string];
  /** The query of the API's own list. */
  readonly query: z.ZodType<Query>;
  /** The service that reads it. */
  readonly load: (
    deps: Deps,
    asked: Scope & FiltersOf<Query> & { readonly page: PageRequest },
  ) => Promise<PageOf<Row>>;
  readonly columns: (visit: Visit) => readonly Column<Row>[];
  /** The fields of the filters, with what was typed and what was wrong with it. */
  readonly filters?: (values: Values, errors: Values) => Html;
  /** What stands there before the first row exists. */
  readonly empty: (visit: Visit) => Html;
  /** Buttons beside the heading. */
  readonly actions?: (visit: Visit) => Html | undefined;
  readonly csv?: string;
};

/** Texts by the name of a member. */
export type Values = Readonly<Record<string, string>>;

const PLACE = /^(limit|page|starting_after|ending_before)$/;

/**
 * The page of a list. What its address says wrongly is said at the field, and no row is shown then: a list
 * that ignores a filter would show what nobody asked for.
 */
export async function listScreen<Query extends PageMembers, Row extends { readonly id: string }>(
  visit: Visit,
  list: ListPage<Query, Row>,
): Promise<Screen> {
  const { values, members } = queryOf(visit.query);
  const { value, details } = visit.door.check(list.query, members);
  const top = (errors: Values) => html`${heading(list.title, list.actions?.(visit))}
${list.filters ? filterForm(list.filters(values, errors), visit.to(list.path)) : null}`;
  const wrong = (found: readonly Wrong[]): Screen => {
    const errors = Object.fromEntries(found.map(({ path, message }) => [path, atField(message, path)]));
    const text = beside(found, list.filters?.(values, {}).markup ?? '');
    const said = notice('bad', { title: 'Nothing is shown: the filter is not right', text });
    return { status: 400, title: list.title, body: html`${top(errors)}${said}` };
  };
  if (details.length > 0) return wrong(details);
  const query = value as Query;
  const { scope, door } = visit;
  try {
    const page = await door.readList(scope.merchantId, (deps) =>
      list.load(deps, { ...scope, ...filtersOf(query), page: pageOf(query) }),
    );
    return { title: list.title, body: html`${top({})}${rowsOf(visit, list, { page, query, values })}` };
  } catch (error) {
    // What only the service can tell: that a text is no address.
    if (!(error instanceof Refusal) || error.field === undefined || PLACE.test(error.field)) throw error;
    return wrong([{ path: error.field, message: error.message }]);
  }
}

type Wrong = { readonly path: string; readonly message: string };

/** What is said beside the fields: of what has one, that it stands there; of the rest what it is, by name. */
function beside(found: readonly Wrong[], fields: string): string {
  const others = found.filter(({ path }) => path === '' || !fields.includes(` name="${path}"`));
  const atFields = others.length < found.length ? ['What is wrong stands at its field.'] : [];
  const names = others.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
  return [...atFields, names].join(' ').trim();
}

type Shown<Query, Row> = { readonly page: PageOf<Row>; readonly query: Query; readonly values: Values };

function rowsOf<Query extends PageMembers, Row extends { readonly id: string }>(
  visit: Visit,
  list: ListPage<Query, Row>,
  { page, query, values }: Shown<Query, Row>,
): Html {
  const filters = Object.fromEntries(Object.entries(values).filter(([name]) => !PLACE.test(name)));
  const isFiltered = Object.keys(filters).length > 0;
  const here = (place: Values) => visit.to(list.path, { ...filters, ...limitOf(values), ...place });
  const [first, last] = [page.rows[0]?.id, page.rows.at(-1)?.id];
  const backwards = query.ending_before !== undefined;
  const isFirst = query.starting_after === undefined && !backwards && (page.page ?? 1) === 1;
  const newer = first !== undefined && (backwards ? page.hasMore : !isFirst);
  const older = last !== undefined && (backwards || page.hasMore);
  if (page.rows.length === 0 && !isFiltered && isFirst) return list.empty(visit);
  if (page.rows.length === 0)
    return emptyState(
      `No ${list.noun[1]} here`,
      isFiltered ? 'No row passes this filter.' : 'The list ends before this place.',
      {
        href: visit.to(list.path),
        label: 'Show the whole list',
      },
    );
  return html`<div class="card">
${table(list.title, list.columns(visit), page.rows)}
</div>
${pager({
  newer: newer ? here({ ending_before: first }) : undefined,
  older: older ? here({ starting_after: last }) : undefined,
  total: page.total,
  atLeast: page.totalIsAtLeast,
  noun: list.noun,
  csv: list.csv === undefined ? undefined : visit.to(list.csv, filters),
})}`;
}

function filterForm(fields: Html, action: string): Html {
  return html`<form class="filters" method="get" action="${action}" role="search">
${fields}
<button type="submit">Filter</button>
</form>`;
}

/**
 * What an address says of a list, as texts and as the API's schema takes it. Fields that were left empty are
 * no filter; a day stands for its first or its last second.
 */
export function queryOf(query: Readonly<Record<string, unknown>>) {
  const members = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
  const values = Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
  return {
    values,
    members: Object.fromEntries(Object.entries(members).map(([name, value]) => [name, timeOf(name, value)])),
  };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function timeOf(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || !DAY.test(value) || !/_(from|to)$/.test(name)) return value;
  return `${value}T${name.endsWith('_to') ? '23:59:59' : '00:00:00'}Z`;
}

function limitOf({ limit }: Values): Values {
  return limit === undefined ? {} : { limit };
}
