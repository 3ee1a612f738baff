import { idParams } from '../../contract/common.ts';
import { delivery, event } from '../../contract/event.ts';
import { getEvent } from '../../services/webhooks/reads.ts';
import { resendDelivery } from '../../services/webhooks/resend.ts';
import { ok, route } from '../route.ts';

const tag = 'Events';

export const EVENT_ROUTES = [
  route({
    method: 'get',
    path: '/events/:id',
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
