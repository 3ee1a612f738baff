import { idParams, listOf } from '../../contract/common.ts';
import { filtersOf, pageOf } from '../../contract/list-query.ts';
import {
  expiryRequest,
  newPaymentLinkAnswer,
  type PaymentLinkFilters,
  paymentLink,
  paymentLinkQuery,
  publicPayment,
  tokenParams,
} from '../../contract/payment-link.ts';
import { newPaymentLink } from '../../contract/payment-request.ts';
import type { Mode } from '../../domain/assets.ts';
import { WEBHOOK_LIMITS } from '../../domain/webhook.ts';
import type { Deps } from '../../services/deps.ts';
import {
  cancelPaymentLink,
  createPaymentLink,
  expirePaymentLink,
  getPaymentLink,
  getPublicPayment,
  listPaymentLinks,
  permitPaymentLink,
} from '../../services/payment-links/index.ts';
import { listBody } from '../page.ts';
import { created, OVER_QUOTA, ok, route } from '../route.ts';

const tag = 'Payment links';

export const PAYMENT_ROUTES = [
  route({
    method: 'post',
    path: '/request-payment',
    operationId: 'createPaymentLink',
    auth: 'merchant',
    scope: 'payments',
    tag,
    statuses: [201],
    errors: ['AMOUNT_TOO_SMALL', 'NOT_FOUND', ...OVER_QUOTA],
    extraMs: WEBHOOK_LIMITS.saveLookupMs,
    summary: 'Create a payment link',
    description:
      'A page where a customer pays an amount in USDT, to the customer’s permanent addresses. With an email that no customer has, the customer is made and `customer.created` is sent. The answer carries `webhook_secret` once.',
    body: newPaymentLink,
    response: newPaymentLinkAnswer,
    prepare: async (deps, { caller, body, publicUrl }) => {
      const { merchantId, mode } = caller;
      const { customerId, email, amountCents, description, metadata, currency, network } = body;
      const urls = {
        successUrl: body.success_url,
        cancelUrl: body.cancel_url,
        webhookUrl: body.webhook_url,
        publicUrl,
      };
      const terms = {
        amountCents,
        description,
        metadata,
        currency,
        network,
        externalId: body.external_id,
        expiresInS: body.expires_in,
      };
      return await permitPaymentLink(deps, { merchantId, mode, customerId, email, ...terms, ...urls });
    },
    apply: async (tx, deps, { prepared }) => {
      const { link, webhookSecret } = await createPaymentLink(tx, deps, prepared);
      return created({ ...link, webhook_secret: webhookSecret });
    },
  }),
  route({
    method: 'get',
    path: '/payments/:token',
    operationId: 'getPayment',
    auth: 'none',
    scope: 'none',
    tag,
    statuses: [200],
    summary: 'What the payer may see of a payment link',
    description:
      'Public: the token is the proof. Holds no email, no id, no metadata and nothing about webhooks.',
    params: tokenParams,
    response: publicPayment,
    read: async (deps, { params }) => ok(await getPublicPayment(deps, params.token)),
  }),
  route({
    method: 'get',
    path: '/payments',
    operationId: 'listPayments',
    auth: 'merchant',
    scope: 'read',
    only: 'session',
    tag,
    statuses: [200],
    errors: ['SESSION_REQUIRED'],
    summary: 'List payment links (dashboard)',
    description: 'For signed-in users. An API key lists the same at `/payment-links`.',
    query: paymentLinkQuery,
    response: listOf(paymentLink),
    read: async (deps, { caller, query }) => ok(listBody(await page(deps, caller, query))),
  }),
  route({
    method: 'get',
    path: '/payment-links',
    operationId: 'listPaymentLinks',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'List payment links',
    query: paymentLinkQuery,
    response: listOf(paymentLink),
    read: async (deps, { caller, query }) => ok(listBody(await page(deps, caller, query))),
  }),
  route({
    method: 'get',
    path: '/payment-links/:id',
    operationId: 'getPaymentLink',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'Read a payment link',
    params: idParams,
    response: paymentLink,
    read: async (deps, { caller, params }) =>
      ok(await getPaymentLink(deps, { merchantId: caller.merchantId, mode: caller.mode, id: params.id })),
  }),
  route({
    method: 'post',
    path: '/payment-links/:id/cancel',
    operationId: 'cancelPaymentLink',
    auth: 'merchant',
    scope: 'payments',
    tag,
    statuses: [200],
    summary: 'Cancel a payment link',
    description:
      'Ends an open link that no payment is on its way to. Cancelling again changes nothing and answers the same.',
    params: idParams,
    response: paymentLink,
    apply: async (tx, deps, { caller, params }) =>
      ok(
        await cancelPaymentLink(tx, deps, {
          merchantId: caller.merchantId,
          mode: caller.mode,
          id: params.id,
        }),
      ),
  }),
  route({
    method: 'post',
    path: '/test/expire-payment',
    operationId: 'expirePayment',
    auth: 'merchant',
    scope: 'payments',
    only: 'test',
    isTest: true,
    tag: 'Test mode',
    statuses: [200],
    errors: ['TEST_MODE_ONLY', 'NOT_FOUND', 'PAYMENT_LINK_CLOSED'],
    summary: 'Let a payment link expire',
    description:
      'Its time is over now; `status` becomes `expired` a moment later, in the way of every link whose time is over. Doing it again changes nothing and answers the same.',
    body: expiryRequest,
    response: paymentLink,
    apply: async (tx, deps, { caller: { merchantId }, body: { token } }) =>
      ok(await expirePaymentLink(tx, deps, { merchantId, token })),
  }),
];

function page(
  deps: Deps,
  caller: { readonly merchantId: string; readonly mode: Mode },
  query: PaymentLinkFilters,
) {
  const { merchantId, mode } = caller;
  return listPaymentLinks(deps, { merchantId, mode, ...filtersOf(query), page: pageOf(query) });
}
