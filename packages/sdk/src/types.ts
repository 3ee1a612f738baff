// Made by "npm run docs" from the schemas that check every request and every answer; not to be
// changed by hand. Coin amounts are decimal strings: never make numbers of them. Members that
// end in `_usd` are numbers with at most two decimals. Times are ISO-8601 in UTC, whole seconds.

import type {
  Network,
  Currency,
  DepositStatus,
  FailureCode,
  PaymentLinkStatus,
  AmountStatus,
  DeliveryStatus,
} from './words.ts';
export type * from './bodies.ts';
export type * from './words.ts';

export type DepositAddress = {
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

export type Customer = {
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

export type CustomerExists = {
  exists: boolean;
  match: 'external_id' | 'email';
  customer: {
    id: string;
    external_id: string | null;
    email: string | null;
  } | null;
};

export type AddressPage = {
  customer_id: string;
  token: string;
  url: string;
};

export type Deposit = {
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

export type Endpoint = {
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
export type EndpointWithSecret = Endpoint & { secret: string };

export type EndpointMaybeSecret = Endpoint & { secret?: string | undefined };

export type Deleted = {
  id: string;
  deleted: true;
};

export type Delivery = {
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

export type ListedEvent = {
  id: string;
  event: string;
  subject_id: string;
  sequence: number;
  data: Record<string, unknown>;
  payload: string;
  timestamp: string;
  created_at: string;
};

export type StoredEvent = ListedEvent & { deliveries: Delivery[] };

export type ResentFailed = {
  resent: number;
  has_more: boolean;
};

export type PaymentTransaction = {
  transaction_hash: string;
  network: Network;
  amount: string;
  confirmations: number;
  status: DepositStatus;
  failure_code: FailureCode | null;
};

export type PaymentLink = {
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
export type LatePaymentLink = PaymentLink & { late_payment: {
    deposit_id: string;
    transaction_hash: string;
    network: Network;
    amount: string;
  } };

/** `webhook_secret` is shown this once; it signs what is sent to `webhook_url`. */
export type NewPaymentLink = PaymentLink & { webhook_secret: string };

export type PaymentMethod = {
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
export type PublicPayment = {
  token: string;
  status: PaymentLinkStatus;
  amount_status: AmountStatus;
  amount_usd: number;
  currency: 'USDT';
  description: string | null;
  merchant: { name: string };
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

export type CurrencyBalance = {
  currency: Currency;
  amount: string;
  amount_usd: number | null;
  available: string;
  pending: string;
  settled: string;
  networks: Network[];
};

export type Balance = {
  is_live: boolean;
  currency: 'USD';
  total_usd: number;
  available_usd: number;
  pending_usd: number;
  settled_usd: number;
  balances: CurrencyBalance[];
  updated_at: string;
};

export type MerchantBalance = {
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
