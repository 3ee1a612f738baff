import { idParams } from '../../contract/common.ts';
import { delivery, event, eventList, eventQuery } from '../../contract/event.ts';
import { filtersOf, pageOf } from '../../contract/list-query.ts';
import { isoSeconds } from '../../domain/events.ts';
import { getEvent } from '../../services/webhooks/reads.ts';
import { resendDelivery } from '../../services/webhooks/resend.ts';
import { listEventsInFull } from '../../services/webhooks/shown/event-reads.ts';
import { listBody } from '../page.ts';
import { ok, route } from '../route.ts';

const tag = 'Events';

export const EVENT_ROUTES = [
  route({
    method: 'get',
    path: '/events',
    operationId: 'listEvents',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'List events',
    description:
      'Everything that happened, whether an endpoint was to be told of it or not. Whoever reads it again and again and wants to miss nothing begins each time at `complete_before` of the time before, and leaves out the ids that it has.',
    query: eventQuery,
    response: eventList,
    read: async (deps, { caller: { merchantId, mode }, query }) => {
      const asked = { merchantId, mode, ...filtersOf(query), page: pageOf(query) };
      const { page, completeBefore } = await listEventsInFull(deps, asked);
      return ok({ ...listBody(page), complete_before: isoSeconds(completeBefore) });
    },
  }),
  route({
    method: 'get',
    path: '/events/:id',
    operationId: 'getEvent',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'Read an event',
    params: idParams,
    response: event,
    read: async (deps, { caller, params }) =>
      ok(await getEvent(deps, { merchantId: caller.merchantId, mode: caller.mode, id: params.id })),
  }),
  route({
    method: 'post',
    path: '/webhook-deliveries/:id/resend',
    operationId: 'resendDelivery',
    auth: 'merchant',
    scope: 'webhooks',
    tag,
    statuses: [200],
    summary: 'Send a delivery again',
    description:
      'The same event and the same bytes, with a new round of attempts. A delivery that is still on its way is a 400.',
    params: idParams,
    response: delivery,
    apply: async (tx, deps, { caller, params }) =>
      ok(await resendDelivery(tx, deps, { merchantId: caller.merchantId, mode: caller.mode, id: params.id })),
  }),
];
