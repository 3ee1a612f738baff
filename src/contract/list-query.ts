import { DEFAULT_LIMIT, type PageMembers } from './common.ts';

/** `customer_id` as `customerId`. */
type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** A list's query without its place, under the names that services have for its members. */
export type FiltersOf<Query> = {
  readonly [Name in Exclude<keyof Query, keyof PageMembers> as Camel<Name & string>]: Query[Name];
};

const PLACE = new Set(['limit', 'page', 'starting_after', 'ending_before']);

/** The filters of a list's query as services take them: what was not given stays undefined. */
export function filtersOf<Query extends PageMembers>(query: Query): FiltersOf<Query> {
  const filters = Object.entries(query).filter(([name]) => !PLACE.has(name));
  return Object.fromEntries(filters.map(([name, value]) => [camel(name), value])) as FiltersOf<Query>;
}

/** The place of a list's query as services take it. */
export function pageOf(query: PageMembers) {
  const { limit = DEFAULT_LIMIT, page, starting_after: startingAfter, ending_before: endingBefore } = query;
  return { limit, page, startingAfter, endingBefore };
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
