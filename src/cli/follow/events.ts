import type { EventPage, EventQuery, ListedEvent, PageQuery } from '../../../packages/sdk/src/index.ts';
import { OperatorError } from '../../base/errors.ts';

// This also runs as a file of the SDK's package, on Node 18: nothing newer may be called here.

/** Reads one page of a merchant's events, newest first. */
export type ReadEvents = (query: EventQuery & PageQuery) => Promise<EventPage>;

/** A merchant's events from some moment on. */
export type Feed = {
  /**
   * Finds where to begin. It is to be called until it succeeds once: without a `since`, what comes from then
   * on is news. Throws what reading throws.
   */
  begin(): Promise<void>;
  /**
   * What has come since the last call, oldest first, those of one subject in their order, each event once.
   * Ends when there is nothing more for now. Throws what reading throws; the next call goes on from there.
   */
  news(): AsyncGenerator<ListedEvent>;
};

/** The most that the API gives at a time. */
const PAGE = 100;
/** All that is new is held until it was given: a developer's gateway makes less. */
const MOST_HELD = 50_000;
const SECOND_MS = 1_000;

/**
 * Follows events by the list alone. Events are listed by the time that they were dated with, and one may be
 * committed after others that were dated later. So each call begins at the time before which nothing could
 * appear any more in the call before, which the gateway tells, and leaves out what it has given already.
 * `since` counts in whole seconds.
 */
export function followEvents(read: ReadEvents, since: Date | undefined): Feed {
  /** Everything that is dated before was given or left out. */
  let from = 0;
  /** What was given or left out of the rest. */
  let seen = new Set<string>();

  async function begin(): Promise<void> {
    const { complete_before: complete } = await read({ limit: 1 });
    const wanted = since ? Math.floor(since.getTime() / SECOND_MS) * SECOND_MS : Number.POSITIVE_INFINITY;
    from = Math.min(wanted, Date.parse(complete));
    if (from === wanted) return;
    // What is there already is no news, and from here on everything is.
    const { rows } = await rowsFrom(from);
    seen = new Set(rows.filter(({ created_at: at }) => Date.parse(at) < wanted).map(({ id }) => id));
  }

  async function* news(): AsyncGenerator<ListedEvent> {
    const { rows, complete } = await rowsFrom(from);
    for (const row of inOrderOfSubjects(rows)) {
      if (seen.has(row.id)) continue;
      seen.add(row.id);
      yield row;
    }
    from = Math.max(from, complete);
    seen = new Set(rows.filter(({ created_at: at }) => Date.parse(at) >= from).map(({ id }) => id));
  }

  /** What is dated from then on, oldest first, and the time before which nothing was missing. */
  async function rowsFrom(time: number) {
    const query = { created_from: new Date(time), limit: PAGE };
    let page = await read(query);
    const complete = Date.parse(page.complete_before);
    const rows = [...page.data];
    for (let last = rows.at(-1); page.has_more && last !== undefined; last = rows.at(-1)) {
      if (rows.length >= MOST_HELD)
        throw new OperatorError(
          `More than ${MOST_HELD} events came since ${query.created_from.toISOString()}`,
          'Give a later time with --since',
        );
      page = await read({ ...query, starting_after: last.id });
      rows.push(...page.data);
    }
    return { rows: rows.reverse(), complete };
  }

  return { begin, news };
}

/** What one transaction wrote has one time; there the numbers of a subject's events tell their order. */
function inOrderOfSubjects(rows: readonly ListedEvent[]): ListedEvent[] {
  const bySubject = new Map<string, ListedEvent[]>();
  for (const row of rows) bySubject.set(row.subject_id, [...(bySubject.get(row.subject_id) ?? []), row]);
  const turns = new Map(
    [...bySubject].map(([id, own]) => [id, [...own].sort((a, b) => a.sequence - b.sequence).values()]),
  );
  return rows.map((row) => turns.get(row.subject_id)?.next().value ?? row);
}
