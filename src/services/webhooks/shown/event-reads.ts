import type { ListedEventView } from '../../../contract/event.ts';
import { Event } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { plainRows } from '../../../db/plain-rows.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import { type AnyEventType, EVENT_TYPES, isoSeconds, TEST_EVENT } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { Deps } from '../../deps.ts';
import { type CreatedBetween, createdBetween, inOrder, listPage, type PageOf } from '../../lists/page.ts';
import { type Condition, matching, type PageRequest } from '../../lists/query.ts';
import { notFound } from '../../refusal.ts';
import type { Scope } from '../../scope.ts';
import { EVENT_FIELDS, presentEvent } from '../present.ts';
import { deliveriesOf, type StoryDelivery } from './subject-events.ts';

export type EventFilters = CreatedBetween & {
  readonly type?: AnyEventType | undefined;
  /** The deposit, customer, payment link or endpoint that the events are about. */
  readonly subjectId?: string | undefined;
};

/** An event in a list: what happened to what, and when. */
export type EventRow = {
  readonly id: string;
  readonly event: string;
  readonly subject_id: string;
  readonly sequence: number;
  readonly timestamp: string;
};

const FIELDS = ['id', 'type', 'subjectId', 'sequence', 'occurredAt'] as const;

/**
 * One page of the events of this merchant and mode, newest first; the total is counted up to a limit. An id
 * that nothing of the merchant has is one without events. Throws a `Refusal` for a foreign cursor.
 */
export async function listEvents(deps: Deps, input: EventListQuery): Promise<PageOf<EventRow>> {
  const em = deps.orm.em.fork();
  const page = await pageOfIds(em, input);
  const found = await plainRows(em, Event, { id: { $in: [...page.rows] } }, FIELDS);
  return { ...page, rows: inOrder(page.rows, found).map(presentEventRow) };
}

/**
 * {@link listEvents} with what was sent of each, and how far back the list is final: everything that was
 * recorded before `completeBefore` is in it, or never will be.
 */
export async function listEventsInFull(
  deps: Deps,
  input: EventListQuery,
): Promise<{ readonly page: PageOf<ListedEventView>; readonly completeBefore: Date }> {
  const em = deps.orm.em.fork();
  // Read first: what is committed between the two is in the page, and what begins later is newer.
  const completeBefore = await finalUntil(em);
  const page = await pageOfIds(em, input);
  const found = await plainRows(em, Event, { id: { $in: [...page.rows] } }, EVENT_FIELDS);
  return { page: { ...page, rows: inOrder(page.rows, found).map(presentEvent) }, completeBefore };
}

/** The clocks of a process, by which events are dated, and of the database may differ by this much. */
const CLOCKS_MS = 60_000;

/** Programs of ours that read, or build indexes, for hours, and write no event. */
const NEVER_WRITE = ['gateway backup', 'gateway migrate'];

/**
 * An event is dated in the transaction that writes it, and that may commit after one which was dated later.
 * None can be older than the oldest transaction that still runs and may write one: a dump, or a report that
 * somebody reads for hours, has changed nothing and is not ours.
 */
async function finalUntil(em: Em): Promise<Date> {
  const row = await firstRow(
    em,
    sql<{ at: string }>`select least(clock_timestamp(), min(xact_start)) as at from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        and application_name <> all(${NEVER_WRITE})
        and (application_name like 'gateway %' or backend_xid is not null)`,
  );
  return new Date((row ? Date.parse(row.at) : 0) - CLOCKS_MS);
}

export type EventListQuery = Scope & EventFilters & { readonly page: PageRequest };

async function pageOfIds(em: Em, input: EventListQuery): Promise<PageOf<string>> {
  const { type, subjectId } = input;
  const filters = [...createdBetween(input), ...matching({ type }), ...aboutSubject(subjectId)];
  // The index has the events of a type in order. A subject has few, which another one has.
  const parts = type === undefined && subjectId === undefined ? TYPES : undefined;
  return await listPage(em, { table: 'events', scope: input, filters, parts, page: input.page });
}

/** An event with the bytes that are signed and sent, and its deliveries. Throws a NOT_FOUND `Refusal`. */
export async function eventInFull(
  deps: Deps,
  input: Scope & { readonly id: string },
): Promise<{
  readonly event: EventRow;
  readonly body: Uint8Array;
  readonly deliveries: readonly StoryDelivery[];
}> {
  const em = deps.orm.em.fork();
  const row = await find(em, input);
  return { event: presentEventRow(row), body: row.body, deliveries: await deliveriesOf(em, [row.id]) };
}

/** A text that is no id is that of nothing. */
function aboutSubject(id: string | undefined): Condition[] {
  if (id === undefined) return [];
  return isUuid(id) ? matching({ subject_id: id }) : [sql`false`];
}

const TYPES = [...EVENT_TYPES, TEST_EVENT].map((type) => sql`type = ${type}`);

async function find(em: Em, { id, merchantId, mode }: Scope & { readonly id: string }) {
  const [row] = isUuid(id) ? await plainRows(em, Event, { id, merchantId, mode }, [...FIELDS, 'body']) : [];
  if (!row) throw notFound('event');
  return row;
}

/** An event of a list, without what was sent. */
export function presentEventRow(row: Pick<Event, (typeof FIELDS)[number]>): EventRow {
  return {
    id: row.id,
    event: row.type,
    subject_id: row.subjectId,
    sequence: row.sequence,
    timestamp: isoSeconds(row.occurredAt),
  };
}
