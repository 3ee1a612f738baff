import type { DeliveryView, EventView } from '../../contract/event.ts';
import { Event, WebhookDelivery } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { plainRows } from '../../db/plain-rows.ts';
import { rows, sql } from '../../db/sql.ts';
import { idsOfMoment, isUuid } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';
import { inOrder, listPage, type PageOf } from '../lists/page.ts';
import { matching, type PageRequest } from '../lists/query.ts';
import { notFound } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { findTarget } from './endpoints.ts';
import {
  type AttemptRow,
  DELIVERY_FIELDS,
  type DeliveryRow,
  presentDelivery,
  presentEvent,
} from './present.ts';

/**
 * A delivery that is resent for ever must not make its own view endless: only the latest attempts are shown.
 */
const MAX_ATTEMPTS_SHOWN = 20;

export type DeliveryFilters = {
  readonly status?: WebhookDelivery['status'] | undefined;
  readonly event?: string | undefined;
};

/**
 * One page of what was sent to an endpoint, or to the own URL of a payment link by its id,
 * with attempts. Throws a {@link Refusal} for an unknown endpoint or a foreign cursor.
 */
export async function listDeliveries(
  deps: Deps,
  input: Scope & DeliveryFilters & { readonly id: string; readonly page: PageRequest },
): Promise<PageOf<DeliveryView>> {
  const em = deps.orm.em.fork();
  const endpoint = await findTarget(em, input);
  const filters = matching({ status: input.status, event_type: input.event });
  const scope = sql`endpoint_id = ${endpoint.id}`;
  const page = await listPage(em, { table: 'webhook_deliveries', scope, filters, page: input.page });
  const deliveries = await plainRows(em, WebhookDelivery, { id: { $in: [...page.rows] } }, DELIVERY_FIELDS);
  return { ...page, rows: await presentDeliveries(em, inOrder(page.rows, deliveries)) };
}

/** An event exactly as it is delivered, with its deliveries. Throws a NOT_FOUND {@link Refusal}. */
export async function getEvent(deps: Deps, input: Scope & { readonly id: string }): Promise<EventView> {
  return await readEvent(deps.orm.em.fork(), input);
}

/** {@link getEvent} in the caller's transaction, which may have recorded the event itself. */
export async function readEvent(em: Em, input: Scope & { readonly id: string }): Promise<EventView> {
  const { id, merchantId, mode } = input;
  const row = isUuid(id) ? await em.findOne(Event, { id, merchantId, mode }) : null;
  if (!row) throw notFound('event');
  const [$gte, $lte] = idsOfMoment(row.id);
  const where = { eventId: row.id, id: { $gte, $lte } };
  const deliveries = await em.find(WebhookDelivery, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return { ...presentEvent(row), deliveries: await presentDeliveries(em, deliveries) };
}

/**
 * Deliveries as the API shows them, each with its latest attempts: with fewer of each where there are more
 * deliveries, so that all together have about `most`.
 */
export async function presentDeliveries(
  em: Em,
  deliveries: readonly DeliveryRow[],
  most = Number.POSITIVE_INFINITY,
): Promise<DeliveryView[]> {
  const ids = deliveries.map(({ id }) => id);
  const ofEach = Math.min(MAX_ATTEMPTS_SHOWN, Math.max(1, Math.floor(most / Math.max(1, ids.length))));
  const attempts = await latestAttempts(em, ids, ofEach);
  return deliveries.map((row) => presentDelivery(row, attempts.get(row.id) ?? []));
}

async function latestAttempts(
  em: Em,
  ids: readonly string[],
  ofEach: number,
): Promise<Map<string, AttemptRow[]>> {
  const byDelivery = new Map<string, AttemptRow[]>();
  if (ids.length === 0) return byDelivery;
  const found = await rows(
    em,
    sql<Omit<AttemptRow, 'startedAt'> & { deliveryId: string; startedAt: string }>`
      select a.* from webhook_deliveries d cross join lateral (
        select delivery_id, round, number, started_at, status_code, error, duration_ms from webhook_attempts
        where delivery_id = d.id order by round desc, number desc limit ${ofEach}
      ) a where d.id = any(${ids}) order by a.delivery_id, a.round, a.number`,
  );
  for (const { deliveryId, startedAt, ...attempt } of found) {
    const list = byDelivery.get(deliveryId) ?? [];
    list.push({ ...attempt, startedAt: new Date(startedAt) });
    byDelivery.set(deliveryId, list);
  }
  return byDelivery;
}
