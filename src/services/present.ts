import type { Customer, Deposit, DepositAddress, WebhookAttempt, WebhookDelivery, WebhookEndpoint } from '../db/entities/index.ts';
import { ASSETS, assetOf, type Currency, NATIVE_CURRENCY, NETWORKS, type Network } from '../domain/assets.ts';
import type { DepositState, FailureCode } from '../domain/deposit.ts';
import { isoSeconds } from '../domain/events.ts';
import { centsToJsonNumber, formatUnits, rateToJsonNumber } from '../domain/money.ts';

/** A resource as merchants see it, in answers of the API and in the data of events alike. All of these are pure. */
export type DepositView = {
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
  status: DepositState;
  failure_code: FailureCode | null;
  failure_reason: string | null;
  payment_token: string | null;
  settlement: null;
  sequence: number;
  is_live: boolean;
  detected_at: string;
  completed_at: string | null;
  settled_at: string | null;
};

/** What {@link presentDeposit} reads of a deposit. */
export const DEPOSIT_FIELDS = [
  ...(['id', 'mode', 'customerId', 'network', 'currency', 'contractAddress', 'amountUnits', 'amountUsdCents'] as const),
  ...(['rateUnits', 'rateSource', 'rateAt', 'address', 'fromAddress', 'transactionHash', 'blockNumber', 'blockHash'] as const),
  ...(['requiredConfirmations', 'status', 'failureCode', 'failureReason', 'sequence', 'simulated', 'paymentLinkId'] as const),
  ...(['detectedAt', 'completedAt', 'settledAt'] as const),
] as const;
export type DepositRow = Pick<Deposit, (typeof DEPOSIT_FIELDS)[number]>;

/** The names of the deposit's customer, the head of its network as last seen (null: never), and the token of the link that it pays. */
export type DepositContext = {
  readonly externalId: string | null;
  readonly email: string | null;
  readonly headNumber: number | null;
  readonly paymentToken?: string | null;
};

/** The deposit as the API and its events show it. Coin amounts are decimal strings; `*_usd` are numbers, null until there is a price. */
export function presentDeposit(row: DepositRow, more: DepositContext): DepositView {
  return {
    id: row.id,
    customer_id: row.customerId,
    external_id: more.externalId,
    email: more.email,
    network: row.network,
    currency: row.currency,
    contract_address: row.contractAddress ?? null,
    amount: formatUnits(row.amountUnits, assetOf(row.network, row.currency).decimals),
    amount_raw: row.amountUnits.toString(),
    amount_usd: usd(row.amountUsdCents),
    rate_usd: rateToJsonNumber(row.rateUnits ?? null),
    rate_source: row.rateSource ?? null,
    rate_at: iso(row.rateAt),
    address: row.address,
    from_address: row.fromAddress ?? null,
    transaction_hash: row.transactionHash,
    block_number: row.blockNumber,
    block_hash: row.blockHash ?? null,
    confirmations: confirmationsOf(row, more.headNumber),
    required_confirmations: row.requiredConfirmations,
    status: row.status,
    failure_code: row.failureCode ?? null,
    failure_reason: row.failureReason ?? null,
    payment_token: more.paymentToken ?? null,
    settlement: null,
    sequence: row.sequence,
    is_live: row.mode === 'live',
    detected_at: isoSeconds(row.detectedAt),
    completed_at: iso(row.completedAt),
    settled_at: iso(row.settledAt),
  };
}

/** A deposit whose block was replaced has none; a simulated one shows what its state promises, because no chain counts for it. */
function confirmationsOf(row: DepositRow, headNumber: number | null): number {
  if (row.blockHash === null || row.blockHash === undefined) return 0;
  if (row.simulated) return simulatedConfirmations(row);
  return headNumber === null ? 0 : Math.max(0, headNumber - row.blockNumber);
}

function simulatedConfirmations(row: DepositRow): number {
  if (row.status === 'detected') return 0;
  return row.status === 'confirming' ? 1 : row.requiredConfirmations;
}

type AddressView = {
  network: Network;
  address: string;
  native_currency: Currency;
  currencies: { currency: Currency; contract_address: string | null; decimals: number }[];
  created_at: string;
};

export type CustomerView = {
  id: string;
  external_id: string | null;
  email: string | null;
  name: string | null;
  metadata: Record<string, unknown>;
  is_live: boolean;
  addresses: AddressView[];
  deposit_count: number;
  total_deposited_usd: number;
  created_at: string;
  updated_at: string;
};

export type CustomerRow = Pick<Customer, 'id' | 'mode' | 'createdAt' | 'updatedAt'> & {
  readonly externalId?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
};
export type AddressRow = Pick<DepositAddress, 'network' | 'address' | 'createdAt'>;

/** What a customer's view holds beside the row: addresses, the USDT contract of each network, and the sums over the deposits. */
export type CustomerContext = {
  readonly addresses: readonly AddressRow[];
  readonly contracts: Readonly<Record<Network, string>>;
  readonly depositCount: number;
  readonly totalDepositedCents: bigint;
};

/** The customer with all addresses, `bsc` first. */
export function presentCustomer(row: CustomerRow, more: CustomerContext): CustomerView {
  const addresses = NETWORKS.flatMap((network) => more.addresses.filter((address) => address.network === network));
  return {
    id: row.id,
    external_id: row.externalId ?? null,
    email: row.email ?? null,
    name: row.name ?? null,
    metadata: { ...row.metadata },
    is_live: row.mode === 'live',
    addresses: addresses.map((address) => presentAddress(address, more.contracts)),
    deposit_count: more.depositCount,
    total_deposited_usd: centsToJsonNumber(more.totalDepositedCents),
    created_at: isoSeconds(row.createdAt),
    updated_at: isoSeconds(row.updatedAt),
  };
}

function presentAddress(row: AddressRow, contracts: Readonly<Record<Network, string>>): AddressView {
  const currencies = ASSETS.filter((asset) => asset.network === row.network).map((asset) => ({
    currency: asset.currency,
    contract_address: asset.kind === 'token' ? contracts[row.network] : null,
    decimals: asset.decimals,
  }));
  return {
    network: row.network,
    address: row.address,
    native_currency: NATIVE_CURRENCY[row.network],
    currencies,
    created_at: isoSeconds(row.createdAt),
  };
}

export type EndpointView = {
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

/** The endpoint without its secret: only the answers that make one carry it, and they add it themselves. */
export function presentEndpoint(row: WebhookEndpoint): EndpointView {
  return {
    id: row.id,
    url: row.url,
    description: row.description ?? null,
    events: [...row.events],
    enabled: row.enabled,
    is_live: row.mode === 'live',
    secret_hint: row.secretHint,
    last_delivery_at: iso(row.lastDeliveryAt),
    last_status_code: row.lastStatusCode ?? null,
    consecutive_failures: row.consecutiveFailures,
    disabled_reason: row.disabledReason ?? null,
    created_at: isoSeconds(row.createdAt),
    updated_at: isoSeconds(row.updatedAt),
  };
}

export type DeliveryView = {
  id: string;
  event_id: string;
  endpoint_id: string;
  event: string;
  status: WebhookDelivery['status'];
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

/** What {@link presentDelivery} reads of a delivery. */
export const DELIVERY_FIELDS = ['id', 'eventId', 'endpointId', 'eventType', 'status', 'createdAt', 'nextAttemptAt'] as const;
export type DeliveryRow = Omit<Pick<WebhookDelivery, (typeof DELIVERY_FIELDS)[number]>, 'nextAttemptAt'> & {
  readonly nextAttemptAt?: Date | null | undefined;
};
export type AttemptRow = Pick<WebhookAttempt, 'round' | 'number' | 'startedAt'> & {
  readonly statusCode?: number | null | undefined;
  readonly error?: string | null | undefined;
  readonly durationMs?: number | null | undefined;
};

/** The delivery with the attempts given, in their order. `round` is 1 and rises with each resend; `number` starts again with it. */
export function presentDelivery(row: DeliveryRow, attempts: readonly AttemptRow[]): DeliveryView {
  return {
    id: row.id,
    event_id: row.eventId,
    endpoint_id: row.endpointId,
    event: row.eventType,
    status: row.status,
    attempts: attempts.map((attempt) => ({
      round: attempt.round,
      number: attempt.number,
      started_at: isoSeconds(attempt.startedAt),
      status_code: attempt.statusCode ?? null,
      error: attempt.error ?? null,
      duration_ms: attempt.durationMs ?? null,
    })),
    next_attempt_at: row.status === 'pending' ? iso(row.nextAttemptAt) : null,
    created_at: isoSeconds(row.createdAt),
  };
}

function iso(date: Date | null | undefined): string | null {
  return date ? isoSeconds(date) : null;
}

function usd(cents: bigint | null | undefined): number | null {
  return cents === null || cents === undefined ? null : centsToJsonNumber(cents);
}
