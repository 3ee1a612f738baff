import { Event } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { plainRows } from '../../../db/plain-rows.ts';
import { sql } from '../../../db/sql.ts';
import { type AnyEventType, EVENT_TYPES, isoSeconds, TEST_EVENT } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { Deps } from '../../deps.ts';
import { type CreatedBetween, createdBetween, inOrder, listPage, type PageOf } from '../../lists/page.ts';
import { type Condition, matching, type PageRequest } from '../../lists/query.ts';
import { notFound } from '../../refusal.ts';
import type { Scope } from '../../scope.ts';
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
export async function listEvents(
  deps: Deps,
  input: Scope & EventFilters & { readonly page: PageRequest },
): Promise<PageOf<EventRow>> {
  const em = deps.orm.em.fork();
  const { type, subjectId } = input;
  const filters = [...createdBetween(input), ...matching({ type }), ...aboutSubject(subjectId)];
  // The index has the events of a type in order. A subject has few, which another one has.
  const parts = type === undefined && subjectId === undefined ? TYPES : undefined;
  const page = await listPage(em, { table: 'events', scope: input, filters, parts, page: input.page });
  const found = await plainRows(em, Event, { id: { $in: [...page.rows] } }, FIELDS);
  return { ...page, rows: inOrder(page.rows, found).map(present) };
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
  return { event: present(row), body: row.body, deliveries: await deliveriesOf(em, [row.id]) };
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

function present(row: Pick<Event, (typeof FIELDS)[number]>): EventRow {
  return {
    id: row.id,
    event: row.type,
    subject_id: row.subjectId,
    sequence: row.sequence,
    timestamp: isoSeconds(row.occurredAt),
  };
}
