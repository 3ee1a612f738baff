import { OperatorError } from '../../base/errors.ts';
import type { DeliveryView } from '../../contract/event.ts';
import { WebhookAttempt, WebhookDelivery, WebhookEndpoint } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { isUuid } from '../../domain/ids.ts';
import type { Deps } from '../../services/deps.ts';
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

type Filters = {
  readonly endpoint?: string;
  readonly status?: WebhookDelivery['status'];
  readonly limit: number;
};

/**
 * Deliveries of every merchant, newest events first. They are sorted by the id, which begins with their time,
 * so that only the newest months are read. Refuses an unknown endpoint.
 */
export async function listAllDeliveries(
  deps: Deps,
  { endpoint, status, limit }: Filters,
): Promise<DeliveryView[]> {
  const em = deps.orm.em.fork();
  const known =
    endpoint === undefined || (isUuid(endpoint) && (await em.count(WebhookEndpoint, endpoint)) > 0);
  if (!known)
    throw new OperatorError(
      `There is no webhook endpoint ${endpoint.slice(0, 100)}`,
      'List deliveries with "gateway webhook list"',
    );
  const where = { ...(endpoint ? { endpointId: endpoint } : {}), ...(status ? { status } : {}) };
  return await deliveryViews(em, await em.find(WebhookDelivery, where, { orderBy: { id: 'desc' }, limit }));
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
