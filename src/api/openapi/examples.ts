import { balanceExample, merchantBalanceExample } from '../../contract/balance.ts';
import { exampleList } from '../../contract/common.ts';
import { addressPageExample, customerExample } from '../../contract/customer.ts';
import { depositExample } from '../../contract/deposit.ts';
import { endpointExample } from '../../contract/endpoint.ts';
import { deliveryExample, eventExample, listedEventExample, testEventExample } from '../../contract/event.ts';
import { linkExample, paidLinkExample, publicPaymentExample } from '../../contract/payment-link.ts';
import { HASH, ID, SECRET, TOKEN } from '../../contract/story.ts';

/** A request and an answer of one route; `query` and `params` fill the example call. */
export type RouteExample = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  /** By status. */
  readonly answers: Readonly<Record<number, object>>;
};

const since = '2026-11-20T09:00:00Z';

/**
 * Examples by method and path as the routes declare them. A test checks that every route
 * is here and that each example fits its schema.
 */
export const ROUTE_EXAMPLES: Readonly<Record<string, RouteExample>> = {
  'get /customers/exists': {
    query: { external_id: 'user-42' },
    answers: {
      200: {
        exists: true,
        match: 'external_id',
        customer: { id: ID.customer, external_id: 'user-42', email: 'ann@example.com' },
      },
    },
  },
  'post /customers': {
    body: { external_id: 'user-42', email: 'ann@example.com', name: 'Ann', metadata: { plan: 'gold' } },
    answers: { 201: customerExample },
  },
  'get /customers': { query: { limit: 25, search: 'ann' }, answers: { 200: exampleList(customerExample) } },
  'get /customers/:id': { params: { id: ID.customer }, answers: { 200: customerExample } },
  'get /customers/:id/address-page': { params: { id: ID.customer }, answers: { 200: addressPageExample } },
  'post /customers/:id/address-page': { params: { id: ID.customer }, answers: { 201: addressPageExample } },
  'post /webhook-endpoints': {
    body: { url: endpointExample.url, events: endpointExample.events, description: 'Orders' },
    answers: { 201: { ...endpointExample, secret: SECRET } },
  },
  'get /webhook-endpoints': { query: { limit: 25 }, answers: { 200: exampleList(endpointExample) } },
  'get /webhook-endpoints/:id': { params: { id: ID.endpoint }, answers: { 200: endpointExample } },
  'put /webhook-endpoints/:id': {
    params: { id: ID.endpoint },
    body: { events: ['*'], rotate_secret: true },
    answers: { 200: { ...endpointExample, events: ['*'], secret: SECRET } },
  },
  'delete /webhook-endpoints/:id': {
    params: { id: ID.endpoint },
    answers: { 200: { id: ID.endpoint, deleted: true } },
  },
  'get /webhook-endpoints/:id/deliveries': {
    params: { id: ID.endpoint },
    query: { status: 'succeeded' },
    answers: { 200: exampleList(deliveryExample) },
  },
  'post /webhook-endpoints/:id/resend-failed': {
    params: { id: ID.endpoint },
    body: { since },
    answers: { 200: { resent: 3, has_more: false } },
  },
  'post /webhook-endpoints/:id/test': { params: { id: ID.endpoint }, answers: { 201: testEventExample } },
  'get /events': {
    query: { type: 'deposit.completed', created_from: since },
    answers: {
      200: { ...exampleList(listedEventExample), complete_before: '2026-11-20T09:31:00Z' },
    },
  },
  'get /events/:id': { params: { id: ID.event }, answers: { 200: eventExample } },
  'post /webhook-deliveries/:id/resend': {
    params: { id: ID.delivery },
    answers: { 200: { ...deliveryExample, status: 'pending', next_attempt_at: '2026-11-20T09:35:00Z' } },
  },
  'get /deposits': {
    query: { status: 'completed', created_from: since },
    answers: { 200: exampleList(depositExample) },
  },
  'get /deposits/:id': { params: { id: ID.deposit }, answers: { 200: depositExample } },
  'post /test/simulate-deposit': {
    body: {
      customer_id: ID.customer,
      network: 'bsc',
      currency: 'USDT',
      amount: '12.5',
      transaction_hash: HASH,
    },
    answers: { 201: depositExample, 200: depositExample },
  },
  'post /test/expire-payment': {
    body: { token: TOKEN },
    answers: { 200: { ...linkExample, expires_at: linkExample.created_at } },
  },
  'post /request-payment': {
    body: {
      email: 'ann@example.com',
      amount_usd: '25.50',
      description: 'Order 1001',
      external_id: '1001',
      success_url: linkExample.success_url,
      webhook_url: linkExample.webhook_url,
      expires_in: 3600,
    },
    answers: { 201: { ...linkExample, webhook_secret: SECRET } },
  },
  'get /payments/:token': { params: { token: TOKEN }, answers: { 200: publicPaymentExample } },
  'get /payments': { query: { status: 'completed' }, answers: { 200: exampleList(paidLinkExample) } },
  'get /payment-links': { query: { status: 'pending' }, answers: { 200: exampleList(linkExample) } },
  'get /payment-links/:id': { params: { id: ID.link }, answers: { 200: paidLinkExample } },
  'post /payment-links/:id/cancel': {
    params: { id: ID.link },
    answers: { 200: { ...linkExample, status: 'cancelled' } },
  },
  'get /balance': { answers: { 200: balanceExample } },
  'get /merchant-balances': { answers: { 200: exampleList(merchantBalanceExample) } },
};
