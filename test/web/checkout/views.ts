import fc from 'fast-check';
import { chainOf } from '../../../src/chains/index.ts';
import {
  type PaymentMethodView,
  type PublicPaymentView,
  publicPaymentExample,
} from '../../../src/contract/payment-link.ts';
import { NETWORKS, type Network } from '../../../src/domain/assets.ts';
import { DEPOSIT_STATES, FAILURE_CODES } from '../../../src/domain/deposit.ts';
import { AMOUNT_STATUSES, LINK_STATUSES } from '../../../src/domain/payment-link.ts';
import type { Required } from '../../../src/web/checkout/progress.ts';

export const REQUIRED: Required = { bsc: 15, tron: 19 };

const ADDRESSES: Readonly<Record<Network, readonly [address: string, contract: string]>> = {
  bsc: ['0x4D321226e555e9aA7DEe248E2C7654CCeE023121', '0x55d398326f99059fF775485246999027B3197955'],
  tron: ['TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
};

/** A way to pay this much, of which `least` is enough. */
export function methodOn(network: Network, amount = '25.5', least = '25.3725'): PaymentMethodView {
  const [address, contract] = ADDRESSES[network];
  const units = 25_500_000n;
  return {
    network,
    currency: 'USDT',
    contract_address: contract,
    decimals: 18,
    address,
    amount,
    least_amount: least,
    payment_uri: chainOf(network).paymentUri({ address, contract, units, amount, chainId: 56 }),
    required_confirmations: REQUIRED[network],
  };
}

/** What a payer's view is made of when nothing is said about it: live, pending, on both networks. */
export function viewOf(more: Partial<PublicPaymentView> = {}): PublicPaymentView {
  const methods = NETWORKS.map((network) => methodOn(network));
  return { ...publicPaymentExample, is_live: true, methods, ...more };
}

const transaction = fc.record({
  transaction_hash: fc.constant(`0x${'ab'.repeat(32)}`),
  network: fc.constantFrom(...NETWORKS),
  amount: fc.constantFrom('0.000000000000000001', '1', '25.5', '1000000'),
  confirmations: fc.constantFrom(0, 1, 14, 15, 19, 1_000_000),
  status: fc.constantFrom(...DEPOSIT_STATES),
  failure_code: fc.constantFrom(null, ...FAILURE_CODES),
});
const url = fc.constantFrom(null, 'https://shop.example/a?b=c', 'javascript:alert(1)', 'x');

/** Every combination of what a view may hold, also such as no row has. */
export const anyView: fc.Arbitrary<PublicPaymentView> = fc
  .record({
    status: fc.constantFrom(...LINK_STATUSES),
    amount_status: fc.constantFrom(...AMOUNT_STATUSES),
    amount_usd: fc.constantFrom(5, 25.5, 0.01, 1_000_000),
    description: fc.option(fc.string({ unit: 'binary', maxLength: 500 })),
    merchant: fc.record({ name: fc.string({ unit: 'binary', maxLength: 200 }) }),
    is_live: fc.boolean(),
    server_time: fc.constantFrom('2026-11-20T10:01:00Z', '2026-11-20T11:00:00Z', '2026-12-01T00:00:00Z'),
    methods: fc.subarray([...NETWORKS]).map((networks) => networks.map((network) => methodOn(network))),
    transactions: fc.oneof(
      fc.array(transaction, { maxLength: 3 }),
      fc.array(transaction, { minLength: 100, maxLength: 100 }),
    ),
    late_transactions: fc.oneof(
      fc.array(transaction, { maxLength: 2 }),
      fc.array(transaction, { minLength: 20, maxLength: 20 }),
    ),
    completed_at: fc.constantFrom(null, '2026-11-20T10:12:00Z'),
    paid_network: fc.constantFrom(null, ...NETWORKS),
    success_url: url,
    cancel_url: url,
  })
  .map((parts) => viewOf(parts));
