import { OperatorError } from '../../base/errors.ts';
import { Event, WebhookDelivery, WebhookEndpoint } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import type { Deps } from '../../services/deps.ts';
import type { Pages } from '../../services/find/found.ts';
import { viewsOf } from '../../services/find/views.ts';
import { requireKnownMerchant } from '../../services/merchants/known.ts';
import type { Scope } from '../../services/scope.ts';
import { requireEndpoint, requireSubject } from './lookup/reads.ts';

export type DeliveryFilters = {
  readonly endpoint?: string;
  readonly status?: WebhookDelivery['status'];
  readonly merchant?: string;
  readonly about?: string;
  readonly limit: number;
};

/**
 * Deliveries of every merchant, newest events first. They are sorted by the id, which begins with their time,
 * so that only the newest months are read. Of a merchant they are taken from the endpoints, without the own
 * URLs of links. Refuses an unknown endpoint or merchant.
 */
export async function listAllDeliveries(deps: Deps, pages: Pages, filters: DeliveryFilters) {
  const em = deps.orm.em.fork();
  const { endpoint, status, merchant, about, limit } = filters;
  await requireKnownMerchant(em, merchant);
  if (endpoint !== undefined) await requireEndpoint(em, endpoint);
  requireSubject(about);
  const where = {
    ...(endpoint ? { endpointId: endpoint } : {}),
    ...(status ? { status } : {}),
    ...(about === undefined ? {} : { eventId: { $in: await eventsOf(em, about) } }),
    ...(merchant === undefined ? {} : { id: { $in: await newestOf(em, { merchant, status, limit }) } }),
  };
  const found = await em.find(WebhookDelivery, where, { orderBy: { id: 'desc' }, limit });
  const named = found.map(({ id }) => ({ kind: 'delivery', id, network: null }) as const);
  const shown = await viewsOf({ em, deps, pages }, named);
  return shown.map(({ view, merchant_id }) => ({ ...view, merchant_id }));
}

async function eventsOf(em: Em, about: string): Promise<string[]> {
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
