import { OperatorError } from '../../base/errors.ts';
import type { DeliveryView } from '../../contract/event.ts';
import { Event, WebhookAttempt, WebhookDelivery, WebhookEndpoint } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import type { Deps } from '../../services/deps.ts';
import { requireKnownMerchant } from '../../services/merchants/known.ts';
import type { Scope } from '../../services/scope.ts';
import { presentDelivery } from '../../services/webhooks/present.ts';

const MAX_ATTEMPTS = 20_000;

/** Deliveries with all their attempts, in the order given. */
export async function deliveryViews(em: Em, rows: readonly WebhookDelivery[]): Promise<DeliveryView[]> {
  if (rows.length === 0) return [];
  const attempts = await em.find(
    WebhookAttempt,
    { deliveryId: { $in: rows.map((row) => row.id) } },
    { orderBy: { round: 'asc', number: 'asc' }, limit: MAX_ATTEMPTS },
  );
  const byDelivery = Map.groupBy(attempts, (attempt) => attempt.deliveryId);
  return rows.map((row) => presentDelivery(row, byDelivery.get(row.id) ?? []));
}

export type DeliveryFilters = {
  readonly endpoint?: string;
  readonly status?: WebhookDelivery['status'];
  readonly merchant?: string;
  readonly about?: string;
  readonly limit: number;
};

/** A delivery with whose it is, where it goes and what its event is about. */
export type ListedDelivery = DeliveryView & {
  readonly merchant_id: string | null;
  readonly url: string | null;
  readonly about: string | null;
};

/**
 * Deliveries of every merchant, newest events first. They are sorted by the id, which begins with their time,
 * so that only the newest months are read. Of a merchant they are taken from the endpoints, without the own
 * URLs of links. Refuses an unknown endpoint or merchant.
 */
export async function listAllDeliveries(deps: Deps, filters: DeliveryFilters): Promise<ListedDelivery[]> {
  const em = deps.orm.em.fork();
  const { endpoint, status, merchant, about, limit } = filters;
  await requireKnownMerchant(em, merchant);
  const known =
    endpoint === undefined || (isUuid(endpoint) && (await em.count(WebhookEndpoint, endpoint)) > 0);
  if (!known)
    throw new OperatorError(
      `There is no webhook endpoint ${endpoint.slice(0, 100)}`,
      'List the endpoints with "gateway endpoint list"',
    );
  const where = {
    ...(endpoint ? { endpointId: endpoint } : {}),
    ...(status ? { status } : {}),
    ...(about === undefined ? {} : { eventId: { $in: await eventsOf(em, about) } }),
    ...(merchant === undefined ? {} : { id: { $in: await newestOf(em, { merchant, status, limit }) } }),
  };
  const rows = await em.find(WebhookDelivery, where, { orderBy: { id: 'desc' }, limit });
  return await withPlaces(em, await deliveryViews(em, rows));
}

async function eventsOf(em: Em, about: string): Promise<string[]> {
  if (!isUuid(about))
    throw new OperatorError(
      `${about.slice(0, 100)} is no id`,
      'Give the id of a deposit, a customer, a payment link or an endpoint',
    );
  const events = await em.find(Event, { subjectId: about }, { fields: ['id'], limit: MAX_EVENTS });
  return events.map(({ id }) => id);
}

const MAX_EVENTS = 1_000;

type OfMerchant = {
  readonly merchant: string;
  readonly status: WebhookDelivery['status'] | undefined;
  readonly limit: number;
};

async function newestOf(em: Em, { merchant, status, limit }: OfMerchant): Promise<string[]> {
  const found = await rows(
    em,
    sql<{ id: string }>`select r.id from webhook_endpoints e cross join lateral (
        select id, created_at from webhook_deliveries d where d.endpoint_id = e.id
          and (${status ?? null}::text is null or d.status = ${status ?? null})
        order by created_at desc, id desc limit ${limit}) r
      where e.merchant_id = ${merchant} and e.payment_link_id is null
      order by r.created_at desc, r.id desc limit ${limit}`,
  );
  return found.map(({ id }) => id);
}

async function withPlaces(em: Em, views: readonly DeliveryView[]): Promise<ListedDelivery[]> {
  const endpoints = await em.find(WebhookEndpoint, { id: { $in: views.map((view) => view.endpoint_id) } });
  const events = await em.find(
    Event,
    { id: { $in: views.map((view) => view.event_id) } },
    { fields: ['id', 'subjectId'] },
  );
  const byId = new Map(endpoints.map((row) => [row.id, row]));
  const about = new Map(events.map(({ id, subjectId }) => [id, subjectId]));
  return views.map((view) => ({
    ...view,
    merchant_id: byId.get(view.endpoint_id)?.merchantId ?? null,
    url: byId.get(view.endpoint_id)?.url ?? null,
    about: about.get(view.event_id) ?? null,
  }));
}

/** The owner and mode of a delivery; refuses an unknown id and says where to find the right one. */
export async function scopeOfDelivery(deps: Deps, id: string): Promise<Scope> {
  const em = deps.orm.em.fork();
  const delivery = isUuid(id) ? await em.findOne(WebhookDelivery, id) : null;
  if (!delivery)
    throw new OperatorError(
      `There is no delivery ${id.slice(0, 100)}`,
      'List them with "gateway webhook list"',
    );
  const { merchantId, mode } = await em.findOneOrFail(WebhookEndpoint, delivery.endpointId);
  return { merchantId, mode };
}
