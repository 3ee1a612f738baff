// Payment links, and what merchants are told: endpoints, events, deliveries.
import {
  type Event,
  type PaymentLink,
  type WebhookDelivery,
  WebhookEndpoint,
} from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { isoSeconds } from '../../domain/events.ts';
import { eventWorkflowId, idsOfMoment, paymentWorkflowId } from '../../domain/ids.ts';
import { describeProgress, isOpenLink } from '../../domain/payment-link.ts';
import { describeLink } from '../payment-links/overdue.ts';
import { type Found, found, type Looking, namesOfCustomers } from './found.ts';

/** Payment links, each with what it waits for. */
export async function foundLinks(looking: Looking, links: readonly PaymentLink[]): Promise<Found[]> {
  const { em, deps, pages } = looking;
  const names = await namesOfCustomers(
    em,
    links.map(({ customerId }) => customerId),
  );
  const all: Found[] = [];
  for (const link of links) {
    const { id, mode, merchantId, customerId, url, status } = link;
    const amount = `${describeProgress(link)}, asked of customer ${names.get(customerId)} (${customerId})`;
    const order = link.externalId == null ? '' : `, external id ${link.externalId}`;
    all.push(
      found('payment_link', `a payment link: ${amount}${order}`, {
        id,
        is_live: mode === 'live',
        merchant_id: merchantId,
        state: `${status} since ${isoSeconds(link.stateSince)}, ${isOpenLink(status) ? 'ends' : 'its time was'} ${isoSeconds(link.expiresAt)}`,
        ...(await describeLink(em, deps, link)),
        command: `payment show ${id}`,
        links: {
          temporal: pages.workflow(paymentWorkflowId(id)),
          dashboard: pages.dashboard(mode, `/links/${id}`),
          checkout: url,
        },
      }),
    );
  }
  return all;
}

/** Endpoints of merchants, and the own URLs of payment links. */
export function foundEndpoints({ pages }: Looking, endpoints: readonly WebhookEndpoint[]): Found[] {
  return endpoints.map((row) => {
    const { id, mode, merchantId, paymentLinkId, enabled, deletedAt } = row;
    const state = deletedAt != null ? 'deleted' : enabled ? 'enabled' : 'disabled';
    return found(
      'endpoint',
      `${paymentLinkId == null ? 'a webhook endpoint' : `the webhook URL of payment link ${paymentLinkId}`}: ${row.url}`,
      {
        id,
        is_live: mode === 'live',
        merchant_id: merchantId,
        state,
        ...standingOfEndpoint(row),
        command: `endpoint show ${id}`,
        links: { dashboard: paymentLinkId == null ? pages.dashboard(mode, `/endpoints/${id}`) : null },
      },
    );
  });
}

/** Why an endpoint is where it is, and what to do about it. */
export function standingOfEndpoint(
  row: Pick<
    WebhookEndpoint,
    | 'id'
    | 'enabled'
    | 'deletedAt'
    | 'disabledReason'
    | 'consecutiveFailures'
    | 'lastStatusCode'
    | 'lastDeliveryAt'
  >,
): { readonly why: string; readonly action: string } {
  const { id, enabled, deletedAt, disabledReason, consecutiveFailures: failures, lastStatusCode } = row;
  if (deletedAt != null)
    return {
      why: `it was deleted ${isoSeconds(deletedAt)}`,
      action: 'nothing to do: nothing is sent there any more',
    };
  if (!enabled)
    return {
      why: disabledReason ?? 'somebody disabled it',
      action: `once the receiver is well: "endpoint enable ${id}"; what failed meanwhile is sent again with "webhook resend", or by the merchant at once`,
    };
  if (failures > 0)
    return {
      why: `the last ${failures} deliveries in a row failed, the last one with ${lastStatusCode ?? 'no answer'}`,
      action: `see the answers with "webhook list --endpoint ${id}"; the receiver has to answer 2xx`,
    };
  return {
    why:
      row.lastDeliveryAt == null
        ? 'nothing was delivered to it yet'
        : `last delivery ${isoSeconds(row.lastDeliveryAt)}`,
    action: 'nothing to do',
  };
}

/** Events, each with what became of its deliveries. */
export async function foundEvents(looking: Looking, events: readonly Event[]): Promise<Found[]> {
  const all: Found[] = [];
  for (const event of events) {
    const { id, mode, merchantId, type, subjectId } = event;
    const sent = await deliveryStates(looking.em, id);
    const failed = sent.get('failed') ?? 0;
    all.push(
      found('event', `the event ${type} about ${subjectId}`, {
        id,
        is_live: mode === 'live',
        merchant_id: merchantId,
        state: `happened ${isoSeconds(event.occurredAt)}`,
        why:
          sent.size === 0
            ? 'no endpoint had asked for it'
            : `its deliveries: ${[...sent].map(([status, count]) => `${count} ${status}`).join(', ')}`,
        action:
          failed === 0
            ? 'nothing to do'
            : '"event show" lists the deliveries; "webhook resend ID" sends one again',
        command: `event show ${id}`,
        links: {
          temporal: looking.pages.workflow(eventWorkflowId(id)),
          dashboard: looking.pages.dashboard(mode, `/events/${id}`),
        },
      }),
    );
  }
  return all;
}

async function deliveryStates(em: Em, eventId: string): Promise<ReadonlyMap<string, number>> {
  const [from, to] = idsOfMoment(eventId);
  const counted = await rows(
    em,
    sql<{ status: string; count: number }>`select status, count(*)::int as count from webhook_deliveries
      where event_id = ${eventId} and id between ${from} and ${to} group by status order by status`,
  );
  return new Map(counted.map(({ status, count }) => [status, count]));
}

/** Deliveries, each with its last answer. */
export async function foundDeliveries(
  looking: Looking,
  deliveries: readonly WebhookDelivery[],
): Promise<Found[]> {
  const { em, pages } = looking;
  const endpoints = new Map(
    (await em.find(WebhookEndpoint, { id: { $in: deliveries.map(({ endpointId }) => endpointId) } })).map(
      (row) => [row.id, row],
    ),
  );
  const all: Found[] = [];
  for (const { id, eventId, eventType, endpointId, status, nextAttemptAt } of deliveries) {
    const endpoint = endpoints.get(endpointId);
    const last = (
      await rows(
        em,
        sql<{
          statusCode: number | null;
          error: string | null;
        }>`select status_code, error from webhook_attempts
          where delivery_id = ${id} order by round desc, number desc limit 1`,
      )
    )[0];
    const answer =
      last === undefined
        ? 'it was not tried yet'
        : `last answer: ${last.statusCode ?? last.error ?? 'none yet'}`;
    all.push(
      found('delivery', `the delivery of ${eventType} (event ${eventId}) to ${endpoint?.url ?? endpointId}`, {
        id,
        is_live: endpoint === undefined ? null : endpoint.mode === 'live',
        merchant_id: endpoint?.merchantId ?? null,
        state: status,
        why:
          status === 'pending' && nextAttemptAt != null
            ? `${answer}; next attempt ${isoSeconds(nextAttemptAt)}`
            : answer,
        action:
          status === 'failed'
            ? `"webhook resend ${id}" sends it once more; see first that "endpoint show ${endpointId}" is enabled`
            : 'nothing to do',
        command: `event show ${eventId}`,
        links: {
          dashboard: endpoint === undefined ? null : pages.dashboard(endpoint.mode, `/events/${eventId}`),
        },
      }),
    );
  }
  return all;
}
