import { OperatorError } from '../../base/errors.ts';
import { Event, WebhookDelivery, WebhookEndpoint } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import { viewsOf } from '../../services/find/views.ts';
import { requireKnownMerchant } from '../../services/merchants/known.ts';
import { transact } from '../../services/transact.ts';
import { updateEndpoint } from '../../services/webhooks/endpoints.ts';
import { resendDelivery } from '../../services/webhooks/resend.ts';
import { COLUMNS } from '../columns.ts';
import { pagesOf } from '../links.ts';
import { listed } from '../print.ts';
import { type CommandGateway, withGateway } from '../process.ts';
import type { Acting, CommandCall } from '../run.ts';
import { requireSubject } from './lookup/list.ts';

/** What was sent to merchants, and where it goes. */
export const WEBHOOKS = { list, resend, changeEndpoint };

const MAX_EVENTS = 1_000;

type Filters = {
  readonly endpoint?: string;
  readonly status?: WebhookDelivery['status'];
  readonly merchant?: string;
  readonly about?: string;
  readonly limit: number;
};

async function list({ options }: CommandCall<Filters>) {
  const deliveries = await withGateway({}, (gateway) => deliveriesOf(gateway, options));
  const none = 'No delivery: leave filters out, or see with "doctor" whether events wait for a worker.';
  const next = 'Send a finished one once more with "webhook resend ID".';
  const { limit } = options;
  return {
    json: { deliveries },
    ...listed(deliveries, { columns: COLUMNS['delivery'], none, next, limit }),
  };
}

/**
 * Deliveries of every merchant, newest events first. They are sorted by the id, which begins with their time,
 * so that only the newest months are read. Of a merchant they are taken from the endpoints, without the own
 * URLs of links. Refuses an unknown endpoint or merchant.
 */
async function deliveriesOf({ deps, config }: CommandGateway, filters: Filters) {
  const em = deps.orm.em.fork();
  const { endpoint, status, merchant, about, limit } = filters;
  await requireKnownMerchant(em, merchant);
  if (endpoint !== undefined) await requireEndpoint(em, endpoint);
  requireSubject(about);
  const where = {
    ...(endpoint ? { endpointId: endpoint } : {}),
    ...(status ? { status } : {}),
    ...(about === undefined ? {} : { eventId: { $in: await eventsAbout(em, about) } }),
    ...(merchant === undefined ? {} : { id: { $in: await newestOf(em, { merchant, status, limit }) } }),
  };
  const found = await em.find(WebhookDelivery, where, { orderBy: { id: 'desc' }, limit });
  const named = found.map(({ id }) => ({ kind: 'delivery', id, network: null }) as const);
  const shown = await viewsOf({ em, deps, pages: pagesOf(config) }, named);
  return shown.map(({ view, merchant_id }) => ({ ...view, merchant_id }));
}

async function eventsAbout(em: Em, about: string): Promise<string[]> {
  const events = await em.find(Event, { subjectId: about }, { fields: ['id'], limit: MAX_EVENTS });
  return events.map(({ id }) => id);
}

async function newestOf(
  em: Em,
  { merchant, status, limit }: Pick<Filters, 'status' | 'limit'> & { readonly merchant: string },
): Promise<string[]> {
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

async function resend({ args: [id = ''], options: { by } }: CommandCall<Acting>) {
  const delivery = await withGateway({ by }, async ({ deps }) => {
    const em = deps.orm.em.fork();
    const known = isUuid(id) ? await em.findOne(WebhookDelivery, id) : null;
    if (!known)
      throw new OperatorError(
        `There is no delivery ${id.slice(0, 100)}`,
        'List them with "gateway webhook list"',
      );
    const { merchantId, mode } = await em.findOneOrFail(WebhookEndpoint, known.endpointId);
    return await transact(deps, (tx) => resendDelivery(tx, deps, { merchantId, mode, id }));
  });
  return {
    json: { delivery },
    text: `Delivery ${delivery.id} (${delivery.event}) is on its way again; a running worker sends it.`,
  };
}

async function changeEndpoint({ args: [what, id = ''], options: { by } }: CommandCall<Acting>) {
  const enabled = what === 'enable';
  const endpoint = await withGateway({ by }, async ({ deps }) => {
    const { merchantId, mode } = await requireEndpoint(deps.orm.em.fork(), id);
    return await transact(deps, (tx) => updateEndpoint(tx, deps, { merchantId, mode, id, enabled }));
  });
  const next = enabled
    ? 'What failed meanwhile: "webhook list --endpoint ID --status failed", and "webhook resend ID" for each.'
    : 'Events that it asked for fail at once from now on, and stay listed: "endpoint enable ID" ends that.';
  return {
    json: { endpoint },
    text: `Endpoint ${endpoint.id} is ${endpoint.enabled ? 'enabled' : 'disabled'}.`,
    next,
  };
}

/** The endpoint's row. Throws an OperatorError that says where to find the right id. */
async function requireEndpoint(em: Em, id: string): Promise<WebhookEndpoint> {
  const row = isUuid(id) ? await em.findOne(WebhookEndpoint, id) : null;
  if (!row)
    throw new OperatorError(
      `There is no webhook endpoint ${id.slice(0, 100)}`,
      'List them with "gateway list endpoints"',
    );
  return row;
}
