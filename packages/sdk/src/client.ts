import { GatewayError } from './errors.ts';
import type {
  CustomerQuery,
  DeliveryQuery,
  DepositQuery,
  EndpointChange,
  EventPage,
  EventQuery,
  NewEndpoint,
  Page,
  PageQuery,
  PaymentLinkQuery,
} from './requests.ts';
import { type CallOptions, type ClientOptions, createSend, type Send } from './transport.ts';
import type {
  AddressPage,
  Balance,
  Customer,
  CustomerExists,
  Deleted,
  Delivery,
  Deposit,
  Endpoint,
  EndpointWithSecret,
  ListedEvent,
  MerchantBalance,
  NewCustomer,
  NewPaymentLink,
  PaymentLink,
  PaymentRequest,
  PublicPayment,
  ResentFailed,
  Simulation,
  StoredEvent,
} from './types.ts';

export * from './errors.ts';
export type * from './requests.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export type * from './types.ts';

/**
 * Every call of the API for one key. Each resolves to the
 * answer's body or rejects with a {@link GatewayError}.
 */
export type GatewayClient = ReturnType<typeof createClient>;

/**
 * A client of the API for servers: a live key must never reach a browser. It needs nothing but
 * `fetch`. Every POST carries an Idempotency-Key, the caller's or a new one, so a call whose answer
 * was lost is sent again and takes effect once. Throws a TypeError for options that cannot work.
 */
export function createClient(options: ClientOptions) {
  const send = createSend(options);
  return {
    customers: customersOf(send),
    endpoints: endpointsOf(send),
    events: {
      ...listOf<ListedEvent, EventQuery, EventPage>(send, '/events'),
      get: (id: string, call?: CallOptions) => send<StoredEvent>(get('/events/', id), call),
    },
    deliveries: {
      resend: (id: string, call?: CallOptions) =>
        send<Delivery>(post(`/webhook-deliveries/${seg(id)}/resend`), call),
    },
    deposits: {
      ...listOf<Deposit, DepositQuery>(send, '/deposits'),
      get: (id: string, call?: CallOptions) => send<Deposit>(get('/deposits/', id), call),
    },
    payments: {
      /** Makes a payment link. With the order's number as `idempotencyKey` an order has one link. */
      request: (body: PaymentRequest, call?: CallOptions) =>
        send<NewPaymentLink>(post('/request-payment', body), call),
      /** What the payer sees. */
      public: (token: string, call?: CallOptions) => send<PublicPayment>(get('/payments/', token), call),
    },
    paymentLinks: {
      ...listOf<PaymentLink, PaymentLinkQuery>(send, '/payment-links'),
      get: (id: string, call?: CallOptions) => send<PaymentLink>(get('/payment-links/', id), call),
      cancel: (id: string, call?: CallOptions) =>
        send<PaymentLink>(post(`/payment-links/${seg(id)}/cancel`), call),
    },
    balance: { get: (call?: CallOptions) => send<Balance>(get('/balance'), call) },
    merchantBalances: listOf<MerchantBalance, object>(send, '/merchant-balances'),
    test: {
      /** For test keys only. */
      simulateDeposit: (body: Simulation, call?: CallOptions) =>
        send<Deposit>(post('/test/simulate-deposit', body), call),
      /** Lets the time of a test link be over; its status becomes `expired` a moment later. */
      expirePayment: (token: string, call?: CallOptions) =>
        send<PaymentLink>(post('/test/expire-payment', { token }), call),
    },
  };
}

function customersOf(send: Send) {
  return {
    ...listOf<Customer, CustomerQuery>(send, '/customers'),
    /** Whether there is such a customer: by `external_id`, or without it by `email`. */
    exists: (query: { external_id?: string; email?: string }, call?: CallOptions) =>
      send<CustomerExists>({ ...get('/customers/exists'), query }, call),
    create: (body: NewCustomer, call?: CallOptions) => send<Customer>(post('/customers', body), call),
    get: (id: string, call?: CallOptions) => send<Customer>(get('/customers/', id), call),
    /** The page with the customer's addresses and deposits: for this customer alone. */
    addressPage: (id: string, call?: CallOptions) =>
      send<AddressPage>(get(`/customers/${seg(id)}/address-page`), call),
    /** Gives that page another address; there is nothing under the one before. */
    replaceAddressPage: (id: string, call?: CallOptions) =>
      send<AddressPage>(post(`/customers/${seg(id)}/address-page`), call),
  };
}

function endpointsOf(send: Send) {
  const at = (id: string): string => `/webhook-endpoints/${seg(id)}`;
  return {
    ...listOf<Endpoint, object>(send, '/webhook-endpoints'),
    create: (body: NewEndpoint, call?: CallOptions) =>
      send<EndpointWithSecret>(post('/webhook-endpoints', body), call),
    get: (id: string, call?: CallOptions) => send<Endpoint>(get('/webhook-endpoints/', id), call),
    update: (id: string, body: EndpointChange, call?: CallOptions) =>
      send<Endpoint>({ method: 'PUT', path: at(id), body }, call),
    /** A new secret; the old one signs beside it for 24 hours. */
    rotate: (id: string, call?: CallOptions) =>
      send<EndpointWithSecret>({ method: 'PUT', path: at(id), body: { rotate_secret: true } }, call),
    /**
     * When the answer was lost and the call is sent again, the endpoint may
     * already be gone: this is what was asked for.
     */
    delete: async (id: string, call?: CallOptions): Promise<Deleted> => {
      try {
        return await send<Deleted>({ method: 'DELETE', path: at(id) }, call);
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'NOT_FOUND' && error.attempts > 1)
          return { id, deleted: true };
        throw error;
      }
    },
    /** Sends `webhook.test` to it. */
    test: (id: string, call?: CallOptions) => send<StoredEvent>(post(`${at(id)}/test`), call),
    /** The deliveries to it, each with its latest attempts. */
    deliveries: (id: string, query: DeliveryQuery & PageQuery = {}, call?: CallOptions) =>
      send<Page<Delivery>>({ ...get(`${at(id)}/deliveries`), query }, call),
    /** Sends again what failed since then, 1,000 by one call: call again while `has_more` is true. */
    resendFailed: (id: string, since: string | Date, call?: CallOptions) =>
      send<ResentFailed>(
        post(`${at(id)}/resend-failed`, { since: since instanceof Date ? since.toISOString() : since }),
        call,
      ),
  };
}

/** A list by pages, and every row of it by cursor. */
function listOf<Row extends { id: string }, Query extends object, Rows extends Page<Row> = Page<Row>>(
  send: Send,
  path: string,
) {
  const list = (query: Partial<Query> & PageQuery = {}, call?: CallOptions) =>
    send<Rows>({ ...get(path), query: { ...query } }, call);
  return {
    /** One page, newest first. */
    list,
    /**
     * Every row, newest first, a page at a time. Rows that arrive meanwhile
     * are not included, and none comes twice.
     */
    all: (
      query: Partial<Query> & Pick<PageQuery, 'limit' | 'starting_after'> = {},
      call?: CallOptions,
    ): AsyncIterable<Row> =>
      walk((cursor) => list({ ...query, ...(cursor === undefined ? {} : { starting_after: cursor }) }, call)),
  };
}

async function* walk<Row extends { id: string }>(
  pageAfter: (cursor: string | undefined) => Promise<Page<Row>>,
): AsyncGenerator<Row> {
  let cursor: string | undefined;
  for (;;) {
    const page = await pageAfter(cursor);
    yield* page.data;
    const last = page.data.at(-1)?.id;
    if (!page.has_more || last === undefined || last === cursor) return;
    cursor = last;
  }
}

function get(path: string, id?: string) {
  return { method: 'GET', path: id === undefined ? path : `${path}${seg(id)}` } as const;
}

function post(path: string, body?: object) {
  return { method: 'POST', path, ...(body === undefined ? {} : { body }) } as const;
}

/** One segment of a path, whatever the id holds. An empty segment, or a dot, would name another route. */
function seg(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError('an id must not be empty');
  return encodeURIComponent(id);
}
