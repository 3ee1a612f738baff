type Network = 'bsc' | 'tron';
type Currency = 'BNB' | 'TRX' | 'USDT';
type DepositStatus = 'detected' | 'confirming' | 'completed' | 'settled' | 'failed';
type FailureCode = 'MONTHLY_LIMIT' | 'REORGED' | 'BELOW_MINIMUM' | 'REJECTED_BY_OPERATOR';
type PaymentLinkStatus = 'pending' | 'processing' | 'partially_paid' | 'completed' | 'expired' | 'cancelled';
type AmountStatus = 'none' | 'underpaid' | 'exact' | 'overpaid' | 'late';
type DeliveryStatus = 'pending' | 'succeeded' | 'failed';
type EventType = 'deposit.detected' | 'deposit.confirming' | 'deposit.completed' | 'deposit.settled' | 'deposit.failed' | 'customer.created' | 'payment.completed' | 'payment.partially_paid' | 'payment.late' | 'payment.expired' | 'payment.cancelled';
/** At least one of `external_id` and `email`. */
type NewCustomer = {
  external_id?: string | null;
  email?: string | null;
  name?: string | null;
  metadata?: Record<string, unknown> | null;
};
/** A rehearsal; without members 10 USDT on bsc, completed, and announced once. */
type Simulation = {
  customer_id: string;
  network?: Network;
  currency?: Currency;
  token?: Currency;
  amount?: string | number;
  amount_usd?: string | number;
  share?: 'full' | 'half' | 'double';
  transaction_hash?: string | null;
  from_address?: string | null;
  payment_token?: string | null;
  outcome?: 'completed' | 'detected' | 'confirming' | 'failed' | 'settled' | 'reorged';
  events?: 'final' | 'full';
};
/** `email` or `customer_id`, and `amount_usd` or `amount`: at most two decimals, as a number or a text. */
type PaymentRequest = {
  email?: string | null;
  customer_id?: string | null;
  amount_usd?: string | number | null;
  amount?: string | number | null;
  description?: string | null;
  external_id?: string | null;
  metadata?: Record<string, unknown> | null;
  success_url?: string | null;
  cancel_url?: string | null;
  webhook_url?: string | null;
  expires_in?: number | null;
  currency?: 'USDT' | null;
  network?: Network | null;
};
type DepositAddress = {
  network: Network;
  address: string;
  native_currency: Currency;
  currencies: {
    currency: Currency;
    contract_address: string | null;
    decimals: number;
  }[];
  created_at: string;
};
type Customer = {
  id: string;
  external_id: string | null;
  email: string | null;
  name: string | null;
  metadata: Record<string, unknown>;
  is_live: boolean;
  addresses: DepositAddress[];
  deposit_count: number;
  total_deposited_usd: number;
  created_at: string;
  updated_at: string;
};
type CustomerExists = {
  exists: boolean;
  match: 'external_id' | 'email';
  customer: {
    id: string;
    external_id: string | null;
    email: string | null;
  } | null;
};
type AddressPage = {
  customer_id: string;
  token: string;
  url: string;
};
type Deposit = {
  id: string;
  customer_id: string;
  external_id: string | null;
  email: string | null;
  network: Network;
  currency: Currency;
  contract_address: string | null;
  amount: string;
  amount_raw: string;
  amount_usd: number | null;
  rate_usd: number | null;
  rate_source: string | null;
  rate_at: string | null;
  address: string;
  from_address: string | null;
  transaction_hash: string;
  block_number: number;
  block_hash: string | null;
  confirmations: number;
  required_confirmations: number;
  status: DepositStatus;
  failure_code: FailureCode | null;
  failure_reason: string | null;
  payment_token: string | null;
  settlement: {
    transaction_hash: string;
    destination: string;
    amount: string;
    fee_amount: string;
    fee_currency: Currency;
    settled_at: string;
  } | null;
  sequence: number;
  is_live: boolean;
  detected_at: string;
  completed_at: string | null;
  settled_at: string | null;
};
type Endpoint = {
  id: string;
  url: string;
  description: string | null;
  events: string[];
  enabled: boolean;
  is_live: boolean;
  secret_hint: string;
  last_delivery_at: string | null;
  last_status_code: number | null;
  consecutive_failures: number;
  disabled_reason: string | null;
  created_at: string;
  updated_at: string;
};
/** `secret` is shown this once. */
type EndpointWithSecret = Endpoint & {
  secret: string;
};
type EndpointMaybeSecret = Endpoint & {
  secret?: string | undefined;
};
type Deleted = {
  id: string;
  deleted: true;
};
type Delivery = {
  id: string;
  event_id: string;
  endpoint_id: string;
  event: string;
  status: DeliveryStatus;
  attempts: {
    round: number;
    number: number;
    started_at: string;
    status_code: number | null;
    error: string | null;
    duration_ms: number | null;
  }[];
  next_attempt_at: string | null;
  created_at: string;
};
type ListedEvent = {
  id: string;
  event: string;
  subject_id: string;
  sequence: number;
  data: Record<string, unknown>;
  payload: string;
  timestamp: string;
  created_at: string;
};
type StoredEvent = ListedEvent & {
  deliveries: Delivery[];
};
type ResentFailed = {
  resent: number;
  has_more: boolean;
};
type PaymentTransaction = {
  transaction_hash: string;
  network: Network;
  amount: string;
  confirmations: number;
  status: DepositStatus;
  failure_code: FailureCode | null;
};
type PaymentLink = {
  id: string;
  token: string;
  url: string;
  status: PaymentLinkStatus;
  amount_status: AmountStatus;
  amount_usd: number;
  currency: 'USDT';
  paid_amount_usd: number;
  remaining_amount_usd: number;
  overpaid_amount_usd: number;
  description: string | null;
  external_id: string | null;
  metadata: Record<string, unknown>;
  success_url: string | null;
  cancel_url: string | null;
  customer_id: string;
  email: string | null;
  webhook_url: string | null;
  paid_network: Network | null;
  paid_currency: 'USDT' | null;
  transaction_hash: string | null;
  transactions: PaymentTransaction[];
  sequence: number;
  expires_at: string;
  created_at: string;
  completed_at: string | null;
  is_live: boolean;
};
/** What `payment.late` carries. */
type LatePaymentLink = PaymentLink & {
  late_payment: {
    deposit_id: string;
    transaction_hash: string;
    network: Network;
    amount: string;
  };
};
/** `webhook_secret` is shown this once; it signs what is sent to `webhook_url`. */
type NewPaymentLink = PaymentLink & {
  webhook_secret: string;
};
type PaymentMethod = {
  network: Network;
  currency: 'USDT';
  contract_address: string;
  decimals: number;
  address: string;
  amount: string;
  least_amount: string;
  payment_uri: string;
  required_confirmations: number;
};
/** What everybody who holds the token may see. */
type PublicPayment = {
  token: string;
  status: PaymentLinkStatus;
  amount_status: AmountStatus;
  amount_usd: number;
  currency: 'USDT';
  description: string | null;
  merchant: {
    name: string;
  };
  is_live: boolean;
  expires_at: string;
  server_time: string;
  methods: PaymentMethod[];
  transactions: PaymentTransaction[];
  late_transactions: PaymentTransaction[];
  paid_network: Network | null;
  transaction_hash: string | null;
  completed_at: string | null;
  success_url: string | null;
  cancel_url: string | null;
};
type CurrencyBalance = {
  currency: Currency;
  amount: string;
  amount_usd: number | null;
  available: string;
  pending: string;
  settled: string;
  networks: Network[];
};
type Balance = {
  is_live: boolean;
  currency: 'USD';
  total_usd: number;
  available_usd: number;
  pending_usd: number;
  settled_usd: number;
  balances: CurrencyBalance[];
  updated_at: string;
};
type MerchantBalance = {
  id: string;
  network: Network;
  currency: Currency;
  contract_address: string | null;
  decimals: number;
  amount: string;
  amount_usd: number | null;
  available: string;
  pending: string;
  settled: string;
  rate_usd: number | null;
  is_live: boolean;
  updated_at: string;
};
/** One page of a list, newest first. `pagination.page` is null where a cursor was given. */
type Page<Row> = {
  data: Row[];
  has_more: boolean;
  /** `total_is_at_least` is there where not everything was counted: there may be more rows than `total`. */
  pagination: {
    page: number | null;
    limit: number;
    total: number;
    total_is_at_least?: true;
    total_pages: number;
  };
};
/** Where a page lies: at most one of `page`, `starting_after` and `ending_before`. */
type PageQuery = {
  limit?: number;
  page?: number;
  starting_after?: string;
  ending_before?: string;
};
type CreatedBetween = {
  created_from?: string | Date;
  created_to?: string | Date;
};
type CustomerQuery = CreatedBetween & {
  email?: string;
  external_id?: string;
  address?: string;
  search?: string;
};
type DepositQuery = CreatedBetween & {
  status?: DepositStatus;
  network?: Network;
  currency?: Currency;
  customer_id?: string;
  external_id?: string;
  email?: string;
  address?: string;
  transaction_hash?: string;
};
type PaymentLinkQuery = CreatedBetween & {
  status?: PaymentLinkStatus;
  customer_id?: string;
  external_id?: string;
  search?: string;
};
type EventQuery = CreatedBetween & {
  type?: EventType | 'webhook.test';
  subject_id?: string;
};
/** A page of events. Nothing with a `created_at` before `complete_before` can appear any more. */
type EventPage = Page<ListedEvent> & {
  complete_before: string;
};
type DeliveryQuery = {
  status?: DeliveryStatus;
  event?: EventType | 'webhook.test';
};
type NewEndpoint = {
  url: string;
  events: (EventType | '*')[] | '*';
  description?: string | null;
};
type EndpointChange = Partial<NewEndpoint> & {
  enabled?: boolean;
};
type ClientOptions = {
  /** Ends in `/api/v1`. */
  readonly baseUrl: string;
  /** `sk_live_…` or `sk_test_…`; its prefix decides the mode. */
  readonly apiKey: string;
  /** Replaces the platform's own `fetch`, for a proxy or a test. */
  readonly fetch?: typeof fetch | undefined;
  /** The limit for one attempt, from the first byte sent to the last one read; unset means 15 s. */
  readonly timeoutMs?: number | undefined;
  /** Attempts after the first; unset means 3, and 0 means none. */
  readonly maxRetries?: number | undefined;
};
/** The options of one call. */
type CallOptions = {
  /**
   * For a POST: the same key and the same request take effect once, also from another process and
   * a day later. Unset means that a new one is made.
   */
  readonly idempotencyKey?: string | undefined;
  /** Ends the call, its retries and its waits; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
};
/**
 * What the API said, or why there is no answer of it: `NO_ANSWER` (the connection broke),
 * `TIMEOUT`, or `INVALID_ANSWER` (a proxy's page, say).
 */
export type KnownErrorCode = 'VALIDATION_ERROR' | 'AMOUNT_TOO_SMALL' | 'INVALID_JSON' | 'UNAUTHORIZED' | 'SUBSCRIPTION_REQUIRED' | 'IP_NOT_ALLOWED' | 'TEST_MODE_ONLY' | 'SESSION_REQUIRED' | 'STEP_UP_REQUIRED' | 'SCOPE_REQUIRED' | 'CSRF' | 'QUOTA_REACHED' | 'NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'CUSTOMER_EXISTS' | 'PAYMENT_LINK_CLOSED' | 'IDEMPOTENCY_CONFLICT' | 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'RATE_LIMITED' | 'DAILY_QUOTA_REACHED' | 'INTERNAL' | 'UNAVAILABLE' | 'NO_ANSWER' | 'TIMEOUT' | 'INVALID_ANSWER';
/** A later version of the API may have codes that are not known here. */
export type GatewayErrorCode = KnownErrorCode | (string & Record<never, never>);
export type GatewayErrorDetail = {
  path: string;
  message: string;
};
export type GatewayErrorInit = {
  readonly status: number;
  readonly code: GatewayErrorCode;
  readonly details?: readonly GatewayErrorDetail[] | undefined;
  readonly field?: string | undefined;
  readonly minimum?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly attempts: number;
  readonly cause?: unknown;
};
/**
 * A request that did not succeed, after all retries that were safe. With `status` 0, a 5xx or
 * `INVALID_ANSWER` a POST may have taken effect or not: send it again with `idempotencyKey` and it takes
 * effect once. The message holds no key and no secret.
 */
export declare class GatewayError extends Error {
  readonly name = "GatewayError";
  /** The HTTP status; 0 where no answer came. */
  readonly status: number;
  readonly code: GatewayErrorCode;
  /** What is wrong with which member of the request. */
  readonly details: readonly GatewayErrorDetail[];
  /** With CUSTOMER_EXISTS: the field that is taken. */
  readonly field: string | undefined;
  /** With AMOUNT_TOO_SMALL: the smallest amount in USD. */
  readonly minimum: number | undefined;
  /** Names the request in the gateway's log. */
  readonly requestId: string | undefined;
  /** Seconds after which the gateway asks the client to try again. */
  readonly retryAfter: number | undefined;
  /** The key of a POST, given or made. */
  readonly idempotencyKey: string | undefined;
  /** How often it was sent. */
  readonly attempts: number;
  constructor(message: string, init: GatewayErrorInit);
}
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
export declare function createClient(options: ClientOptions): {
  customers: {
    /** Whether there is such a customer: by `external_id`, or without it by `email`. */
    exists: (query: {
      external_id?: string;
      email?: string;
    }, call?: CallOptions) => Promise<CustomerExists>;
    create: (body: NewCustomer, call?: CallOptions) => Promise<Customer>;
    get: (id: string, call?: CallOptions) => Promise<Customer>;
    /** The page with the customer's addresses and deposits: for this customer alone. */
    addressPage: (id: string, call?: CallOptions) => Promise<AddressPage>;
    /** Gives that page another address; there is nothing under the one before. */
    replaceAddressPage: (id: string, call?: CallOptions) => Promise<AddressPage>;
    /** One page, newest first. */
    list: (query?: Partial<CustomerQuery> & PageQuery, call?: CallOptions) => Promise<Page<Customer>>;
    /**
     * Every row, newest first, a page at a time. Rows that arrive meanwhile
     * are not included, and none comes twice.
     */
    all: (query?: Partial<CustomerQuery> & Pick<PageQuery, "limit" | "starting_after">, call?: CallOptions) => AsyncIterable<Customer>;
  };
  endpoints: {
    create: (body: NewEndpoint, call?: CallOptions) => Promise<EndpointWithSecret>;
    get: (id: string, call?: CallOptions) => Promise<Endpoint>;
    update: (id: string, body: EndpointChange, call?: CallOptions) => Promise<Endpoint>;
    /** A new secret; the old one signs beside it for 24 hours. */
    rotate: (id: string, call?: CallOptions) => Promise<EndpointWithSecret>;
    /**
     * When the answer was lost and the call is sent again, the endpoint may
     * already be gone: this is what was asked for.
     */
    delete: (id: string, call?: CallOptions) => Promise<Deleted>;
    /** Sends `webhook.test` to it. */
    test: (id: string, call?: CallOptions) => Promise<StoredEvent>;
    /** The deliveries to it, each with its latest attempts. */
    deliveries: (id: string, query?: DeliveryQuery & PageQuery, call?: CallOptions) => Promise<Page<Delivery>>;
    /** Sends again what failed since then, 1,000 by one call: call again while `has_more` is true. */
    resendFailed: (id: string, since: string | Date, call?: CallOptions) => Promise<ResentFailed>;
    /** One page, newest first. */
    list: (query?: object & PageQuery, call?: CallOptions) => Promise<Page<Endpoint>>;
    /**
     * Every row, newest first, a page at a time. Rows that arrive meanwhile
     * are not included, and none comes twice.
     */
    all: (query?: object & Pick<PageQuery, "limit" | "starting_after">, call?: CallOptions) => AsyncIterable<Endpoint>;
  };
  events: {
    get: (id: string, call?: CallOptions) => Promise<StoredEvent>;
    /** One page, newest first. */
    list: (query?: Partial<EventQuery> & PageQuery, call?: CallOptions) => Promise<EventPage>;
    /**
     * Every row, newest first, a page at a time. Rows that arrive meanwhile
     * are not included, and none comes twice.
     */
    all: (query?: Partial<EventQuery> & Pick<PageQuery, "limit" | "starting_after">, call?: CallOptions) => AsyncIterable<ListedEvent>;
  };
  deliveries: {
    resend: (id: string, call?: CallOptions) => Promise<Delivery>;
  };
  deposits: {
    get: (id: string, call?: CallOptions) => Promise<Deposit>;
    /** One page, newest first. */
    list: (query?: Partial<DepositQuery> & PageQuery, call?: CallOptions) => Promise<Page<Deposit>>;
    /**
     * Every row, newest first, a page at a time. Rows that arrive meanwhile
     * are not included, and none comes twice.
     */
    all: (query?: Partial<DepositQuery> & Pick<PageQuery, "limit" | "starting_after">, call?: CallOptions) => AsyncIterable<Deposit>;
  };
  payments: {
    /** Makes a payment link. With the order's number as `idempotencyKey` an order has one link. */
    request: (body: PaymentRequest, call?: CallOptions) => Promise<NewPaymentLink>;
    /** What the payer sees. */
    public: (token: string, call?: CallOptions) => Promise<PublicPayment>;
  };
  paymentLinks: {
    get: (id: string, call?: CallOptions) => Promise<PaymentLink>;
    cancel: (id: string, call?: CallOptions) => Promise<PaymentLink>;
    /** One page, newest first. */
    list: (query?: Partial<PaymentLinkQuery> & PageQuery, call?: CallOptions) => Promise<Page<PaymentLink>>;
    /**
     * Every row, newest first, a page at a time. Rows that arrive meanwhile
     * are not included, and none comes twice.
     */
    all: (query?: Partial<PaymentLinkQuery> & Pick<PageQuery, "limit" | "starting_after">, call?: CallOptions) => AsyncIterable<PaymentLink>;
  };
  balance: {
    get: (call?: CallOptions) => Promise<Balance>;
  };
  merchantBalances: {
    /** One page, newest first. */
    list: (query?: object & PageQuery, call?: CallOptions) => Promise<Page<MerchantBalance>>;
    /**
     * Every row, newest first, a page at a time. Rows that arrive meanwhile
     * are not included, and none comes twice.
     */
    all: (query?: object & Pick<PageQuery, "limit" | "starting_after">, call?: CallOptions) => AsyncIterable<MerchantBalance>;
  };
  test: {
    /** For test keys only. */
    simulateDeposit: (body: Simulation, call?: CallOptions) => Promise<Deposit>;
    /** Lets the time of a test link be over; its status becomes `expired` a moment later. */
    expirePayment: (token: string, call?: CallOptions) => Promise<PaymentLink>;
  };
};
/** The body of every webhook. */
type WebhookEvent<Data = Record<string, unknown>> = {
  readonly event: string;
  readonly data: Data;
  /** ISO-8601, when it happened. */
  readonly timestamp: string;
};
type WebhookErrorCode = 'RAW_BODY_REQUIRED' | 'SECRET_REQUIRED' | 'HEADER_MISSING' | 'TIMESTAMP_INVALID' | 'TIMESTAMP_OUT_OF_TOLERANCE' | 'SIGNATURE_MISMATCH' | 'BODY_INVALID';
/** A webhook that must not be trusted: answer 400 and do nothing. `code` says why. */
export declare class WebhookVerificationError extends Error {
  readonly name = "WebhookVerificationError";
  readonly code: WebhookErrorCode;
  constructor(code: WebhookErrorCode, message: string);
}
/** Node's `request.headers`, a fetch `Headers`, or any record; names in any case. */
type WebhookHeaders = {
  get(name: string): string | null;
} | Readonly<Record<string, string | readonly string[] | undefined>>;
type VerifyWebhook = {
  /** The exact bytes that arrived. A parsed and re-serialised body has another signature. */
  readonly rawBody: Uint8Array | ArrayBuffer | string;
  readonly headers: WebhookHeaders;
  /** The whole secret as shown at creation, `whsec_` included; a line end after it counts for nothing. */
  readonly secret: string;
  /** How far the sending time may differ from ours, in either direction. */
  readonly toleranceSeconds?: number;
  /** Our time in milliseconds; the system clock by default. */
  readonly now?: () => number;
};
type TestEvent = {
  readonly secret: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly id?: string;
  /** When it is sent, in milliseconds; the system clock by default. */
  readonly now?: () => number;
};
type SignedEvent = {
  readonly rawBody: string;
  readonly headers: Record<string, string>;
};
/**
 * Verifies one webhook and returns its event. Either signature is enough:
 * `X-Webhook-Signature`, or the Standard Webhooks headers, which during a
 * rotation also carry the old secret's signature. Compares in constant time.
 * Needs Node's crypto (Node, Deno, Bun); {@link verifyWebhookAsync} runs everywhere.
 *
 * A genuine webhook can arrive more than once: use `data.id` as the key when you credit.
 * @throws WebhookVerificationError
 */
export declare function verifyWebhook<Data = Record<string, unknown>>(input: VerifyWebhook): WebhookEvent<Data>;
/**
 * {@link verifyWebhook} in every runtime: with Node's crypto where it is, else with Web Crypto.
 * Rejects with a WebhookVerificationError.
 */
export declare function verifyWebhookAsync<Data = Record<string, unknown>>(input: VerifyWebhook): Promise<WebhookEvent<Data>>;
/**
 * A signed event as the gateway would send it, for the tests of a receiver.
 * Needs Node's crypto; {@link signTestEventAsync} runs everywhere.
 */
export declare function signTestEvent(input: TestEvent): SignedEvent;
/** {@link signTestEvent} in every runtime. */
export declare function signTestEventAsync(input: TestEvent): Promise<SignedEvent>;
export type { AddressPage, AmountStatus, Balance, CallOptions, ClientOptions, CreatedBetween, Currency, CurrencyBalance, Customer, CustomerExists, CustomerQuery, Deleted, Delivery, DeliveryQuery, DeliveryStatus, Deposit, DepositAddress, DepositQuery, DepositStatus, Endpoint, EndpointChange, EndpointMaybeSecret, EndpointWithSecret, EventPage, EventQuery, EventType, FailureCode, LatePaymentLink, ListedEvent, MerchantBalance, Network, NewCustomer, NewEndpoint, NewPaymentLink, Page, PageQuery, PaymentLink, PaymentLinkQuery, PaymentLinkStatus, PaymentMethod, PaymentRequest, PaymentTransaction, PublicPayment, ResentFailed, SignedEvent, Simulation, StoredEvent, TestEvent, VerifyWebhook, WebhookErrorCode, WebhookEvent, WebhookHeaders };