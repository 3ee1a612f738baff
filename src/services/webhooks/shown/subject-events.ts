import type { DeliveryView } from '../../../contract/event.ts';
import { WebhookDelivery } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { plainRows } from '../../../db/plain-rows.ts';
import { rows, sql } from '../../../db/sql.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { idsOfMoment, lowestId } from '../../../domain/ids.ts';
import type { Scope } from '../../scope.ts';
import { DELIVERY_FIELDS, type DeliveryRow } from '../present.ts';
import { presentDeliveries } from '../reads.ts';

/** A delivery with where it goes: an endpoint, which may be deleted by now, or a payment link's own URL. */
export type StoryDelivery = DeliveryView & {
  readonly url: string;
  readonly endpoint_deleted: boolean;
  readonly of_link: boolean;
};

/** An event of a subject with everything that became of it. */
export type StoryEvent = {
  readonly id: string;
  readonly event: string;
  readonly at: string;
  readonly deliveries: readonly StoryDelivery[];
};

/** The newest of each are shown: a subject that comes back for ever must not make its story endless. */
const MAX_EVENTS = 50;
const MAX_DELIVERIES = 100;
/** Of all deliveries together, the latest of each: who resends for ever would make a page of megabytes. */
const MAX_ATTEMPTS = 200;
/** Clocks of two processes may differ by this much. */
const CLOCKS_MS = 60_000;

/**
 * The events of a deposit, customer or payment link of this merchant and mode, oldest first, with their
 * deliveries and attempts. `since`: none of them is older. `isCut`: there are more than are shown.
 */
export async function eventsOfSubject(
  em: Em,
  { merchantId, mode }: Scope,
  { subjectId, since }: { readonly subjectId: string; readonly since: Date },
): Promise<{ readonly events: readonly StoryEvent[]; readonly isCut: boolean }> {
  const found = await rows(
    em,
    sql<{ id: string; type: string; occurredAt: string }>`select id, type, occurred_at from events
      where subject_id = ${subjectId} and id >= ${lowestId(new Date(since.getTime() - CLOCKS_MS))}
        and merchant_id = ${merchantId} and mode = ${mode}
      order by occurred_at desc, sequence desc limit ${MAX_EVENTS + 1}`,
  );
  const shown = found.slice(0, MAX_EVENTS).reverse();
  const deliveries = await deliveriesOf(
    em,
    shown.map(({ id }) => id),
  );
  const events = shown.map(({ id, type, occurredAt }) => ({
    id,
    event: type,
    at: isoSeconds(new Date(occurredAt)),
    deliveries: deliveries.filter((delivery) => delivery.event_id === id),
  }));
  const isCut =
    found.length > MAX_EVENTS || deliveries.length >= MAX_DELIVERIES || deliveries.some(lacksAttempts);
  return { events, isCut };
}

/** Attempts are numbered from one in each round: it shows where the first of them are missing. */
function lacksAttempts({ attempts: [first] }: DeliveryView): boolean {
  return first !== undefined && (first.round > 1 || first.number > 1);
}

/** The deliveries of events, oldest first, with their attempts and where they go; the newest of very many. */
export async function deliveriesOf(em: Em, eventIds: readonly string[]): Promise<StoryDelivery[]> {
  if (eventIds.length === 0) return [];
  // A delivery has the time of its event, so its month is known.
  const moments = eventIds.map((id) => idsOfMoment(id));
  const lowest = moments.map(([from]) => from).toSorted()[0];
  const highest = moments
    .map(([, to]) => to)
    .toSorted()
    .at(-1);
  const ids = await rows(
    em,
    sql<{ id: string; url: string; deleted: boolean; ofLink: boolean }>`
      select d.id, e.url, e.deleted_at is not null as deleted, e.payment_link_id is not null as of_link
      from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
      where d.event_id = any(${eventIds}) and d.id between ${lowest} and ${highest}
      order by d.created_at desc, d.id desc limit ${MAX_DELIVERIES}`,
  );
  const places = new Map(ids.map((row) => [row.id, row]));
  const found: DeliveryRow[] = await plainRows(
    em,
    WebhookDelivery,
    { id: { $in: [...places.keys()] } },
    DELIVERY_FIELDS,
  );
  const sorted = found.toSorted(
    (one, other) => one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1),
  );
  return (await presentDeliveries(em, sorted, MAX_ATTEMPTS)).map((view) => {
    const place = places.get(view.id);
    return {
      ...view,
      url: place?.url ?? '',
      endpoint_deleted: place?.deleted ?? false,
      of_link: place?.ofLink ?? false,
    };
  });
}
