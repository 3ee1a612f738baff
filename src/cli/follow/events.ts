import type { EventPage, EventQuery, ListedEvent, PageQuery } from '../../../packages/sdk/src/index.ts';

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
/** A list without a known beginning is held up to this many events; a longer one is read a second time. */
const HELD = 1_000;
const SECOND_MS = 1_000;

/**
 * Follows events by the list alone. Events are listed by the time that they were dated with, and one may be
 * committed after others that were dated later. So each call begins behind the newest event before which
 * nothing can appear any more, which the gateway tells, and leaves out what it has given already. `since`
 * counts in whole seconds.
 */
export function followEvents(read: ReadEvents, since: Date | undefined): Feed {
  /** Nothing can appear before this event, and everything up to it was given or left out. */
  let anchor: string | undefined;
  /** What was given or left out behind the anchor. */
  let seen = new Set<string>();
  let isBegun = false;
  const from = since && Math.floor(since.getTime() / SECOND_MS) * SECOND_MS;
  const isWanted = (row: ListedEvent): boolean =>
    isBegun || (from !== undefined && Date.parse(row.created_at) >= from);

  async function begin(): Promise<void> {
    const { complete_before: complete } = await read({ limit: 1 });
    const before = Math.min(from ?? Number.POSITIVE_INFINITY, Date.parse(complete));
    const { data } = await read({ created_to: new Date(Math.max(0, before - SECOND_MS)), limit: 1 });
    anchor = data[0]?.id;
    // What is there already is no news, and from here on everything is.
    if (from === undefined) for await (const _ of news());
  }

  async function* news(): AsyncGenerator<ListedEvent> {
    const open = new Set<string>();
    for await (const { rows, complete } of pages(read, anchor)) {
      for (const row of inOrderOfSubjects(rows)) {
        if (seen.has(row.id)) continue;
        seen.add(row.id);
        if (isWanted(row)) yield row;
      }
      for (const row of rows) {
        if (isFinal(row, complete)) {
          anchor = row.id;
          seen.delete(row.id);
        } else open.add(row.id);
      }
    }
    isBegun = true;
    seen = open;
  }

  return { begin, news };
}

type Page = { readonly rows: readonly ListedEvent[]; readonly complete: number };

/** The events behind the anchor, oldest first, with the time before which nothing was missing then. */
async function* pages(read: ReadEvents, anchor: string | undefined): AsyncGenerator<Page> {
  if (anchor === undefined) {
    const held = await fromTheEnd(read);
    yield held;
    anchor = held.isWhole ? undefined : held.rows.at(-1)?.id;
  }
  let complete: number | undefined;
  while (anchor !== undefined) {
    const page = await read({ ending_before: anchor, limit: PAGE });
    complete ??= Date.parse(page.complete_before);
    const rows = [...page.data].reverse();
    yield { rows, complete };
    anchor = page.has_more ? rows.at(-1)?.id : undefined;
  }
}

/** Everything there is, or the oldest event alone where that is too much to hold. */
async function fromTheEnd(read: ReadEvents): Promise<Page & { readonly isWhole: boolean }> {
  let held: ListedEvent[] = [];
  let isWhole = true;
  let complete: number | undefined;
  let after: string | undefined;
  for (;;) {
    const page = await read({ limit: PAGE, ...(after === undefined ? {} : { starting_after: after }) });
    complete ??= Date.parse(page.complete_before);
    held.push(...page.data);
    after = held.at(-1)?.id;
    if (held.length > HELD || !isWhole) {
      held = held.slice(-1);
      isWhole = false;
    }
    if (!page.has_more || after === undefined) return { rows: [...held].reverse(), complete, isWhole };
  }
}

/** Times are shown in whole seconds, so an event may be up to a second younger than it says. */
function isFinal({ created_at: at }: ListedEvent, complete: number): boolean {
  return Date.parse(at) + SECOND_MS <= complete;
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
