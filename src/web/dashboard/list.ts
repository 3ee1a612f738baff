import type { z } from 'zod';
import type { PageMembers } from '../../contract/common.ts';
import { type FiltersOf, filtersOf, pageOf } from '../../contract/list-query.ts';
import { recordAction } from '../../services/audit/record.ts';
import type { Deps } from '../../services/deps.ts';
import { type ExportOf, exportCsv } from '../../services/export/export.ts';
import type { PageOf } from '../../services/lists/page.ts';
import type { PageRequest } from '../../services/lists/query.ts';
import { Refusal } from '../../services/refusal.ts';
import type { Scope } from '../../services/scope.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import { card } from '../parts/card.ts';
import { emptyState } from '../parts/empty.ts';
import { notice } from '../parts/notice.ts';
import { pager } from '../parts/pager.ts';
import type { Problem } from './door.ts';
import { atField, drawn, type FieldOf } from './fields.ts';
import {
  type Action,
  type Empty,
  emptyOf,
  heading,
  type LinkTo,
  pathOf,
  type Rows,
  tableOf,
} from './pieces.ts';
import type { DashboardPage, Download, Screen, Values, Visit } from './visit.ts';

type Named = { readonly id: string };

/** A list of the API as a page: the same filters, the same total, the same cursors. */
export type ListOf<Query extends PageMembers, Row extends Named> = {
  readonly path: string;
  readonly title: string;
  readonly noun: readonly [one: string, many: string];
  /** The query of the API's own list. */
  readonly query: z.ZodType<Query>;
  /** The service that reads it. */
  readonly load: (deps: Deps, asked: Asked<Query>, visit: Visit) => Promise<PageOf<Row>>;
  readonly rows: Rows<Row>;
  readonly filters?: readonly FieldOf[];
  /** What stands there before the first row exists. */
  readonly empty: Empty | ((visit: Visit) => Empty);
  readonly actions?: readonly Action[];
  /** What its file holds, at the list's own path with `.csv`. */
  readonly csv?: (input: Scope & FiltersOf<Query>) => ExportOf;
  /** Of the list of one thing: what stands around it. Throws NOT_FOUND where that does not exist. */
  readonly around?: (visit: Visit) => Promise<Around>;
};
type Asked<Query> = Scope & FiltersOf<Query> & { readonly page: PageRequest };
type Around = { readonly back: LinkTo; readonly above: HtmlValue; readonly below?: HtmlValue };

/** A list as a page, and where it has one as a file. */
export function list<Query extends PageMembers, Row extends Named>(
  described: ListOf<Query, Row>,
): DashboardPage[] {
  const { path, query, csv } = described;
  const page = { path, show: (visit: Visit) => listScreen(visit, described) };
  return csv ? [page, { path: `${path}.csv`, file: fileOf(path.slice(1), query, csv) }] : [page];
}

const PLACE = /^(limit|page|starting_after|ending_before)$/;

/**
 * The page of a list. What its address says wrongly is said at the field, and no row is shown then: a list
 * that ignores a filter would show what nobody asked for.
 */
async function listScreen<Query extends PageMembers, Row extends Named>(
  visit: Visit,
  described: ListOf<Query, Row>,
): Promise<Screen> {
  const { title, filters, actions, around } = described;
  const frame = await around?.(visit);
  const { values, members } = queryOf(visit.query);
  const { value, details } = visit.door.check(described.query, members);
  const screen = (body: HtmlValue, errors: Values): Screen => ({
    title,
    body: html`${heading(visit, title, frame?.back, actions)}${frame?.above}
${filters && filterForm(drawn(filters, { values, errors }), visit.to(pathOf(described.path, visit)))}${body}${frame?.below}`,
  });
  const wrong = (found: Problem['details']): Screen => {
    const errors = Object.fromEntries(found.map(({ path, message }) => [path, atField(message, path)]));
    const text = beside(found, filters ?? []);
    const said = notice('bad', { title: 'Nothing is shown: the filter is not right', text });
    return { ...screen(said, errors), status: 400 };
  };
  if (details.length > 0) return wrong(details);
  const query = value as Query;
  try {
    const page = await visit.inTurn((deps) =>
      described.load(deps, { ...visit.scope, ...filtersOf(query), page: pageOf(query) }, visit),
    );
    return screen(rowsOf(visit, described, { page, query, values }), {});
  } catch (error) {
    // What only the service can tell: that a text is no address.
    if (!(error instanceof Refusal) || error.field === undefined || PLACE.test(error.field)) throw error;
    return wrong([{ path: error.field, message: error.message }]);
  }
}

/** What is said beside the fields: of what has one, that it stands there; of the rest what it is, by name. */
function beside(found: Problem['details'], filters: readonly FieldOf[]): string {
  const others = found.filter(({ path }) => filters.every(({ name }) => name !== path));
  const atFields = others.length < found.length ? ['What is wrong stands at its field.'] : [];
  const names = others.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
  return [...atFields, names].join(' ').trim();
}

type PageRead<Query, Row> = { readonly page: PageOf<Row>; readonly query: Query; readonly values: Values };

function rowsOf<Query extends PageMembers, Row extends Named>(
  visit: Visit,
  described: ListOf<Query, Row>,
  { page, query, values }: PageRead<Query, Row>,
): Html {
  const { title, noun, rows, empty, csv } = described;
  const path = pathOf(described.path, visit);
  const filters = Object.fromEntries(Object.entries(values).filter(([name]) => !PLACE.test(name)));
  const isFiltered = Object.keys(filters).length > 0;
  const { limit } = values;
  const here = (place: Values) => visit.to(path, { ...filters, limit, ...place });
  const [first, last] = [page.rows[0]?.id, page.rows.at(-1)?.id];
  const backwards = query.ending_before !== undefined;
  const isFirst = query.starting_after === undefined && !backwards && (page.page ?? 1) === 1;
  const newer = first !== undefined && (backwards ? page.hasMore : !isFirst);
  const older = last !== undefined && (backwards || page.hasMore);
  if (page.rows.length === 0 && !isFiltered && isFirst)
    return emptyOf(visit, typeof empty === 'function' ? empty(visit) : empty);
  if (page.rows.length === 0)
    return emptyState(
      `No ${noun[1]} here`,
      isFiltered ? 'No row passes this filter.' : 'The list ends before this place.',
      { href: visit.to(path), label: 'Show the whole list' },
    );
  return html`${card(tableOf(visit, title, rows, page.rows))}
${pager({
  newer: newer ? here({ ending_before: first }) : undefined,
  older: older ? here({ starting_after: last }) : undefined,
  total: page.total,
  atLeast: page.totalIsAtLeast,
  noun,
  csv: csv && visit.to(`${path}.csv`, filters),
})}`;
}

function filterForm(fields: HtmlValue, action: string): Html {
  return html`<form class="filters" method="get" action="${action}" role="search">
${fields}
<button type="submit">Filter</button>
</form>`;
}

/**
 * What an address says of a list, as texts and as the API's schema takes it. Fields that were left empty are
 * no filter; a day stands for its first or its last second.
 */
function queryOf(query: Visit['query']) {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const texts = given.filter((member): member is [string, string] => typeof member[1] === 'string');
  const members = given.map(([name, value]) => [name, timeOf(name, value)]);
  return { values: Object.fromEntries(texts), members: Object.fromEntries(members) };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function timeOf(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || !DAY.test(value) || !/_(from|to)$/.test(name)) return value;
  return `${value}T${name.endsWith('_to') ? '23:59:59' : '00:00:00'}Z`;
}

/** A file that has begun rather waits for its turn than ends in the middle. */
const LATER_MS = 60_000;

/** A filter that is not right is refused, as the list refuses it: nobody asked for a file of all rows. */
function fileOf<Query extends PageMembers>(
  name: string,
  query: z.ZodType<Query>,
  rowsOf: (input: Scope & FiltersOf<Query>) => ExportOf,
): Download {
  return {
    name: `${name}-{mode}.csv`,
    type: 'text/csv; charset=utf-8; header=present',
    async *pieces({ door, deps, scope, query: given }, signal) {
      const { value, details } = door.check(query, queryOf(given).members);
      const [wrong] = details;
      if (wrong) throw new Refusal('INVALID', `${wrong.path} ${wrong.message}`.trim(), wrong.path);
      let waitMs: number | undefined;
      const turn = <T>(work: (deps: Deps) => Promise<T>): Promise<T> => {
        const read = door.readList(scope.merchantId, work, waitMs);
        waitMs = LATER_MS;
        return read;
      };
      let isNoted = false;
      for await (const piece of exportCsv(turn, rowsOf({ ...scope, ...filtersOf(value as Query) }), signal)) {
        // Before the first rows leave: a file that could not be made is none.
        if (!isNoted)
          await recordAction(deps.orm.em.fork(), deps, { action: 'list.export', ...scope, subject: name });
        isNoted = true;
        yield piece;
      }
    },
  };
}
