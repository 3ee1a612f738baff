// Payment links, and what merchants are told: endpoints, events, deliveries.
import { Event, PaymentLink, WebhookDelivery, WebhookEndpoint } from '../../db/entities/index.ts';
import { plainRows } from '../../db/plain-rows.ts';
import { isoSeconds } from '../../domain/events.ts';
import { eventWorkflowId, paymentWorkflowId } from '../../domain/ids.ts';
import { describeLink } from '../payment-links/overdue.ts';
import { paymentViews } from '../payment-links/present.ts';
import { presentEndpoint, presentEvent } from '../webhooks/present.ts';
import { presentDeliveries } from '../webhooks/reads.ts';
import { deliveriesOf } from '../webhooks/shown/subject-events.ts';
import type { Looking, Shown } from './found.ts';

/** Payment links, each with what it waits for. */
export async function shownLinks({ em, deps, pages }: Looking, ids: readonly string[]): Promise<Shown[]> {
  const found = await em.find(PaymentLink, { id: { $in: ids } });
  const views = await paymentViews(em, found);
  const all: Shown[] = [];
  for (const [index, row] of found.entries()) {
    const { id, merchantId, mode, url } = row;
    all.push({
      id,
      merchantId,
      view: { ...views[index] },
      ...(await describeLink(em, deps, row)),
      links: {
        checkout: url,
        dashboard: pages.dashboard(mode, `/links/${id}`),
        temporal: pages.workflow(paymentWorkflowId(id)),
      },
    });
  }
  return all;
}

/** Endpoints of merchants, and the own URLs of payment links. */
export async function shownEndpoints({ em, pages }: Looking, ids: readonly string[]): Promise<Shown[]> {
  return (await em.find(WebhookEndpoint, { id: { $in: ids } })).map((row) => {
    const { id, merchantId, mode, paymentLinkId = null } = row;
    return {
      id,
      merchantId,
      view: { ...presentEndpoint(row), payment_link_id: paymentLinkId },
      ...standingOf(row),
      links: { dashboard: paymentLinkId === null ? pages.dashboard(mode, `/endpoints/${id}`) : null },
    };
  });
}

/** Why an endpoint is where it is, and what to do about it. */
function standingOf(row: WebhookEndpoint): Required<Pick<Shown, 'why' | 'action'>> {
  const { id, enabled, deletedAt, consecutiveFailures: failures, lastDeliveryAt } = row;
  const nothing = 'nothing to do';
  if (deletedAt != null)
    return {
      why: `it was deleted ${isoSeconds(deletedAt)}: nothing is sent there any more`,
      action: nothing,
    };
  if (!enabled)
    return {
      why: row.disabledReason ?? 'somebody disabled it',
      action: `once the receiver is well: "endpoint enable ${id}"; what failed meanwhile is sent again with "webhook resend", or by the merchant at once`,
    };
  if (failures > 0)
    return {
      why: `the last ${failures} deliveries in a row failed, the last one with ${row.lastStatusCode ?? 'no answer'}`,
      action: `see the answers with "webhook list --endpoint ${id}"; the receiver has to answer 2xx`,
    };
  return { why: lastDeliveryAt == null ? 'nothing was delivered to it yet' : null, action: nothing };
}

/** Events as they were sent, each with what became of its deliveries. */
export async function shownEvents({ em, pages }: Looking, ids: readonly string[]): Promise<Shown[]> {
  const found = await em.find(Event, { id: { $in: ids } });
  const sent = Map.groupBy(await deliveriesOf(em, ids), (delivery) => delivery.event_id);
  return found.map((row) => {
    const { id, merchantId, mode } = row;
    const deliveries = sent.get(id) ?? [];
    const failed = deliveries.some(({ status }) => status === 'failed');
    return {
      id,
      merchantId,
      view: { ...presentEvent(row), is_live: mode === 'live', deliveries },
      why: deliveries.length === 0 ? 'no endpoint had asked for it' : null,
      action: failed ? '"webhook resend DELIVERY-ID" sends a failed delivery once more' : 'nothing to do',
      links: {
        dashboard: pages.dashboard(mode, `/events/${id}`),
        temporal: pages.workflow(eventWorkflowId(id)),
      },
    };
  });
}

/** Deliveries with their attempts, and where each goes. */
export async function shownDeliveries({ em, pages }: Looking, ids: readonly string[]): Promise<Shown[]> {
  const views = await presentDeliveries(em, await em.find(WebhookDelivery, { id: { $in: ids } }));
  const places = await em.find(WebhookEndpoint, { id: { $in: views.map((view) => view.endpoint_id) } });
  const told = { id: { $in: views.map((view) => view.event_id) } };
  const events = await plainRows(em, Event, told, ['id', 'subjectId']);
  const about = new Map(events.map(({ id, subjectId }) => [id, subjectId]));
  return views.map((view) => {
    const place = places.find((row) => row.id === view.endpoint_id);
    return {
      id: view.id,
      merchantId: place?.merchantId,
      view: { ...view, url: place?.url ?? null, about: about.get(view.event_id) ?? null },
      action:
        view.status === 'failed'
          ? `"webhook resend ${view.id}" sends it once more; see first that "find ${view.endpoint_id}" says that it is enabled`
          : 'nothing to do',
      command: `find ${view.event_id}`,
      links: { dashboard: place ? pages.dashboard(place.mode, `/events/${view.event_id}`) : null },
    };
  });
}
