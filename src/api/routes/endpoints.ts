import { idParams, listOf, listQuery } from '../../contract/common.ts';
import {
  endpoint,
  endpointChange,
  endpointDeleted,
  endpointMaybeSecret,
  endpointWithSecret,
  newEndpoint,
} from '../../contract/endpoint.ts';
import { delivery, deliveryQuery, event, resendFailedBody, resentFailed } from '../../contract/event.ts';
import { filtersOf, pageOf } from '../../contract/list-query.ts';
import { WEBHOOK_LIMITS } from '../../domain/webhook.ts';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  updateEndpoint,
} from '../../services/webhooks/endpoints.ts';
import { permitChange, permitEndpoint } from '../../services/webhooks/permit.ts';
import { listDeliveries } from '../../services/webhooks/reads.ts';
import { RESEND_BATCH, resendFailed, sendTestEvent } from '../../services/webhooks/resend.ts';
import { listBody } from '../page.ts';
import { created, ok, route } from '../route.ts';

const tag = 'Webhook endpoints';
/** Saving a URL resolves its host first. */
const extraMs = WEBHOOK_LIMITS.saveLookupMs;

export const ENDPOINT_ROUTES = [
  route({
    method: 'post',
    path: '/webhook-endpoints',
    operationId: 'createWebhookEndpoint',
    auth: 'merchant',
    scope: 'webhooks',
    guarded: true,
    tag,
    statuses: [201],
    extraMs,
    errors: ['QUOTA_REACHED'],
    summary: 'Register a webhook endpoint',
    description: 'The answer carries the signing secret, once. At most 50 for each merchant and mode.',
    body: newEndpoint,
    response: endpointWithSecret,
    prepare: async (deps, { caller, body }) => {
      const { merchantId, mode } = caller;
      const events = body.events ?? body.enabled_events ?? [];
      return await permitEndpoint(deps, {
        merchantId,
        mode,
        url: body.url,
        events,
        description: body.description || null,
      });
    },
    apply: async (tx, deps, { prepared }) => created(await createEndpoint(tx, deps, prepared)),
  }),
  route({
    method: 'get',
    path: '/webhook-endpoints',
    operationId: 'listWebhookEndpoints',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'List webhook endpoints',
    query: listQuery({}),
    response: listOf(endpoint),
    read: async (deps, { caller, query }) =>
      ok(
        listBody(
          await listEndpoints(deps, {
            merchantId: caller.merchantId,
            mode: caller.mode,
            page: pageOf(query),
          }),
        ),
      ),
  }),
  route({
    method: 'get',
    path: '/webhook-endpoints/:id',
    operationId: 'getWebhookEndpoint',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'Read a webhook endpoint',
    params: idParams,
    response: endpoint,
    read: async (deps, { caller, params }) =>
      ok(await getEndpoint(deps, { merchantId: caller.merchantId, mode: caller.mode, id: params.id })),
  }),
  route({
    method: 'put',
    path: '/webhook-endpoints/:id',
    operationId: 'updateWebhookEndpoint',
    auth: 'merchant',
    scope: 'webhooks',
    guarded: true,
    tag,
    statuses: [200],
    extraMs,
    summary: 'Change a webhook endpoint',
    description:
      'Any subset of the members. `rotate_secret` gives a new secret; the old one signs beside it for 24 hours.',
    params: idParams,
    body: endpointChange,
    response: endpointMaybeSecret,
    prepare: async (deps, { caller, params, body }) => {
      const { merchantId, mode } = caller;
      const { url, enabled, rotate_secret: rotateSecret } = body;
      const description = body.description === undefined ? undefined : body.description || null;
      const events = body.events ?? body.enabled_events;
      return await permitChange(deps, {
        merchantId,
        mode,
        id: params.id,
        url,
        events,
        description,
        enabled,
        rotateSecret,
      });
    },
    apply: async (tx, deps, { prepared }) => ok(await updateEndpoint(tx, deps, prepared)),
  }),
  route({
    method: 'delete',
    path: '/webhook-endpoints/:id',
    operationId: 'deleteWebhookEndpoint',
    auth: 'merchant',
    scope: 'webhooks',
    guarded: true,
    tag,
    statuses: [200],
    summary: 'Delete a webhook endpoint',
    description: 'Nothing is sent to it afterwards.',
    params: idParams,
    response: endpointDeleted,
    apply: async (tx, deps, { caller, params }) =>
      ok(await deleteEndpoint(tx, deps, { merchantId: caller.merchantId, mode: caller.mode, id: params.id })),
  }),
  route({
    method: 'get',
    path: '/webhook-endpoints/:id/deliveries',
    operationId: 'listDeliveries',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'List what was sent to an endpoint',
    params: idParams,
    query: deliveryQuery,
    response: listOf(delivery),
    read: async (deps, { caller, params, query }) => {
      const { merchantId, mode } = caller;
      return ok(
        listBody(
          await listDeliveries(deps, {
            merchantId,
            mode,
            id: params.id,
            ...filtersOf(query),
            page: pageOf(query),
          }),
        ),
      );
    },
  }),
  route({
    method: 'post',
    path: '/webhook-endpoints/:id/resend-failed',
    operationId: 'resendFailedDeliveries',
    auth: 'merchant',
    scope: 'webhooks',
    recorded: true,
    tag,
    statuses: [200],
    summary: 'Send again what failed at an endpoint',
    description: `The same events and bytes, the oldest first, at most ${RESEND_BATCH} by one call and ten a second. What is on its way is left alone.`,
    params: idParams,
    body: resendFailedBody,
    response: resentFailed,
    apply: async (tx, deps, { caller, params, body }) => {
      const { merchantId, mode } = caller;
      const { resent, hasMore } = await resendFailed(tx, deps, {
        merchantId,
        mode,
        id: params.id,
        since: body.since,
      });
      return ok({ resent, has_more: hasMore });
    },
  }),
  route({
    method: 'post',
    path: '/webhook-endpoints/:id/test',
    operationId: 'sendTestEvent',
    auth: 'merchant',
    scope: 'webhooks',
    isTest: true,
    tag,
    statuses: [201],
    errors: ['DAILY_QUOTA_REACHED'],
    summary: 'Send a test event to an endpoint',
    description: 'The event `webhook.test`, whatever the endpoint subscribes to. One a second, ten at once.',
    params: idParams,
    response: event,
    apply: async (tx, deps, { caller, params }) =>
      created(
        await sendTestEvent(tx, deps, { merchantId: caller.merchantId, mode: caller.mode, id: params.id }),
      ),
  }),
];
