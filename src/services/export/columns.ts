import type { CustomerView } from '../../contract/customer.ts';
import type { DepositView } from '../../contract/deposit.ts';
import type { PaymentLinkView } from '../../contract/payment-link.ts';
import { NETWORKS } from '../../domain/assets.ts';
import type { CsvCell } from '../lists/csv.ts';
import type { MerchantPayoutView } from '../payouts/views.ts';
import type { EventRow } from '../webhooks/shown/event-reads.ts';

/** By name, what stands in each column of a list's file. */
export type Columns<T> = Readonly<Record<string, (row: T) => CsvCell>>;

/** Columns that are called like the member that they show. */
function members<T extends object>(
  ...names: { [K in keyof T]: T[K] extends CsvCell ? K : never }[keyof T][]
) {
  return Object.fromEntries(names.map((name) => [name, (row: T) => row[name] as CsvCell])) as Columns<T>;
}

export const DEPOSITS: Columns<DepositView> = {
  ...members<DepositView>(
    ...([
      'id',
      'detected_at',
      'status',
      'failure_code',
      'network',
      'currency',
      'amount',
      'amount_usd',
    ] as const),
    ...(['rate_usd', 'customer_id', 'external_id', 'email', 'address', 'from_address'] as const),
    ...(['transaction_hash', 'block_number', 'payment_token', 'completed_at', 'settled_at'] as const),
  ),
  settled_amount: ({ settlement }) => settlement?.amount ?? null,
  settlement_fee: ({ settlement }) => settlement?.fee_amount ?? null,
  settlement_fee_currency: ({ settlement }) => settlement?.fee_currency ?? null,
  settlement_transaction_hash: ({ settlement }) => settlement?.transaction_hash ?? null,
};

export const CUSTOMERS: Columns<CustomerView> = {
  ...members<CustomerView>('id', 'created_at', 'external_id', 'email', 'name'),
  ...Object.fromEntries(
    NETWORKS.map((network) => [
      `address_${network}`,
      ({ addresses }: CustomerView) => addresses.find((one) => one.network === network)?.address ?? null,
    ]),
  ),
  ...members<CustomerView>('deposit_count', 'total_deposited_usd'),
};

export const LINKS: Columns<PaymentLinkView> = members<PaymentLinkView>(
  ...(['id', 'created_at', 'status', 'amount_status', 'amount_usd', 'paid_amount_usd'] as const),
  ...(['remaining_amount_usd', 'overpaid_amount_usd', 'description', 'external_id', 'customer_id'] as const),
  ...([
    'email',
    'url',
    'paid_network',
    'paid_currency',
    'transaction_hash',
    'expires_at',
    'completed_at',
  ] as const),
);

export const PAYOUTS: Columns<MerchantPayoutView> = members<MerchantPayoutView>(
  ...(['id', 'created_at', 'state', 'network', 'currency', 'gross', 'net', 'fee', 'fee_currency'] as const),
  ...(['address', 'destination', 'transaction_hash', 'deposit_count', 'settled_at'] as const),
);

export const EVENTS: Columns<EventRow> = members<EventRow>(
  'id',
  'timestamp',
  'event',
  'subject_id',
  'sequence',
);
