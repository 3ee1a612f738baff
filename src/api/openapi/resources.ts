import type { AnyEventType } from '../../domain/events.ts';

/** One story that all examples tell: Ann tops up once, pays order 1001 by a link, and the shop's endpoint hears of it. */
const ID = {
  customer: '63ea4dc0-a6ca-4f3b-9cf2-a4c538254f29',
  deposit: '4842a81f-303e-8696-ab67-15527a19014e',
  endpoint: '0b9f6a52-8a3c-4d0e-9a55-3f1f6f1f0a11',
  event: '8d2e1b7c-55f0-4a52-9a0c-2f6d3c1e4b90',
  delivery: 'c6a4f0de-2b19-4f6a-8f6b-7a1d9e0c3b52',
  link: '1f0c9d4e-7b3a-4c58-b2e6-90a5d8f7c613',
  balance: 'e1b0a7d2-3c46-8f59-a1d3-5b7c9e2f4a60',
} as const;

const USDT_BSC = '0x55d398326f99059fF775485246999027B3197955';
const USDT_TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const ADDRESS_BSC = '0x4D321226e555e9aA7DEe248E2C7654CCeE023121';
const ADDRESS_TRON = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH';
const HASH = '0xce138796f21442ed9e1522d61f921dca726748f0e7ab42bbad23b421ab6066cd';
const LINK_HASH = '0x2f1c5e7a9b3d4f60817293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8';
const TOKEN = 'pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ';
const SECRET = 'whsec_RXhhbXBsZSBvZiBhIHNlY3JldCwgbm90IGEgcmVhbCE=';

const customer = {
  ...{ id: ID.customer, external_id: 'user-42', email: 'ann@example.com', name: 'Ann', metadata: { plan: 'gold' }, is_live: false },
  addresses: [
    {
      ...{ network: 'bsc', address: ADDRESS_BSC, native_currency: 'BNB' },
      currencies: [
        { currency: 'BNB', contract_address: null, decimals: 18 },
        { currency: 'USDT', contract_address: USDT_BSC, decimals: 18 },
      ],
      created_at: '2026-11-20T09:00:00Z',
    },
    {
      ...{ network: 'tron', address: ADDRESS_TRON, native_currency: 'TRX' },
      currencies: [
        { currency: 'TRX', contract_address: null, decimals: 6 },
        { currency: 'USDT', contract_address: USDT_TRON, decimals: 6 },
      ],
      created_at: '2026-11-20T09:00:00Z',
    },
  ],
  ...{ deposit_count: 0, total_deposited_usd: 0, created_at: '2026-11-20T09:00:00Z', updated_at: '2026-11-20T09:00:00Z' },
};

const deposit = {
  ...{ id: ID.deposit, customer_id: ID.customer, external_id: 'user-42', email: 'ann@example.com' },
  ...{ network: 'bsc', currency: 'USDT', contract_address: USDT_BSC, amount: '12.5', amount_raw: '12500000000000000000' },
  ...{ amount_usd: 12.5, rate_usd: 1, rate_source: 'fixed', rate_at: '2026-11-20T09:30:00Z' },
  ...{ address: ADDRESS_BSC, from_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', transaction_hash: HASH },
  ...{ block_number: 51234567, block_hash: '0x434dfb10f9584740abe50bb219f113ac12037584f5dd4da8937f2c4e3c5fc898' },
  ...{ confirmations: 15, required_confirmations: 15, status: 'completed', failure_code: null, failure_reason: null },
  ...{ payment_token: null, settlement: null, sequence: 3, is_live: false },
  ...{ detected_at: '2026-11-20T09:29:48Z', completed_at: '2026-11-20T09:30:00Z', settled_at: null },
};

const endpoint = {
  ...{ id: ID.endpoint, url: 'https://shop.example/webhooks', description: 'Orders', events: ['deposit.completed', 'payment.completed'] },
  ...{ enabled: true, is_live: false, secret_hint: 'lIE=', last_delivery_at: null, last_status_code: null, consecutive_failures: 0 },
  ...{ disabled_reason: null, created_at: '2026-11-20T09:00:00Z', updated_at: '2026-11-20T09:00:00Z' },
};

const delivery = {
  ...{ id: ID.delivery, event_id: ID.event, endpoint_id: ID.endpoint, event: 'deposit.completed', status: 'succeeded' },
  attempts: [{ round: 1, number: 1, started_at: '2026-11-20T09:30:00Z', status_code: 200, error: null, duration_ms: 84 }],
  ...{ next_attempt_at: null, created_at: '2026-11-20T09:30:00Z' },
};

const link = {
  ...{ id: ID.link, token: TOKEN, url: `https://pay.shop.example/pay/${TOKEN}`, status: 'pending', amount_status: 'none' },
  ...{ amount_usd: 25.5, currency: 'USDT', paid_amount_usd: 0, remaining_amount_usd: 25.5, overpaid_amount_usd: 0 },
  ...{ description: 'Order 1001', external_id: '1001', metadata: {} },
  ...{ success_url: 'https://shop.example/orders/1001', cancel_url: null, customer_id: ID.customer, email: 'ann@example.com' },
  ...{ webhook_url: 'https://shop.example/webhooks/1001', paid_network: null, paid_currency: null, transaction_hash: null },
  ...{ transactions: [], expires_at: '2026-11-20T11:00:00Z', created_at: '2026-11-20T10:00:00Z', completed_at: null, is_live: false },
};

const paidLink = {
  ...link,
  ...{ status: 'completed', amount_status: 'exact', paid_amount_usd: 25.5, remaining_amount_usd: 0 },
  ...{ paid_network: 'bsc', paid_currency: 'USDT', transaction_hash: LINK_HASH, completed_at: '2026-11-20T10:12:00Z' },
  transactions: [{ transaction_hash: LINK_HASH, network: 'bsc', amount: '25.5', confirmations: 15, status: 'completed' }],
};

const publicPayment = {
  ...{ token: TOKEN, status: 'pending', amount_status: 'none', amount_usd: 25.5, currency: 'USDT', description: 'Order 1001' },
  ...{ merchant: { name: 'My shop' }, is_live: false, expires_at: '2026-11-20T11:00:00Z', server_time: '2026-11-20T10:01:00Z' },
  methods: [
    {
      ...{ network: 'bsc', currency: 'USDT', contract_address: USDT_BSC, decimals: 18, address: ADDRESS_BSC, amount: '25.5' },
      payment_uri: `ethereum:${USDT_BSC}@56/transfer?address=${ADDRESS_BSC}&uint256=25500000000000000000`,
      required_confirmations: 15,
    },
  ],
  ...{ transactions: [], paid_network: null, transaction_hash: null },
  ...{ success_url: 'https://shop.example/orders/1001', cancel_url: null },
};

const NOTHING = { amount: '0', amount_usd: 0, available: '0', pending: '0', settled: '0' };

const balance = {
  ...{ is_live: false, currency: 'USD', total_usd: 38, available_usd: 38, pending_usd: 0, settled_usd: 0 },
  balances: [
    { currency: 'BNB', ...NOTHING, networks: ['bsc'] },
    { currency: 'TRX', ...NOTHING, networks: ['tron'] },
    { currency: 'USDT', amount: '38', amount_usd: 38, available: '38', pending: '0', settled: '0', networks: ['bsc', 'tron'] },
  ],
  updated_at: '2026-11-20T10:12:00Z',
};

const merchantBalance = {
  ...{ id: ID.balance, network: 'bsc', currency: 'USDT', contract_address: USDT_BSC, decimals: 18, amount: '38', amount_usd: 38 },
  ...{ available: '38', pending: '0', settled: '0', rate_usd: 1, is_live: false, updated_at: '2026-11-20T10:12:00Z' },
};

const event = { id: ID.event, event: 'deposit.completed', data: deposit, timestamp: '2026-11-20T09:30:00Z', deliveries: [delivery] };
const testEvent = {
  ...{ id: ID.event, event: 'webhook.test', timestamp: '2026-11-20T09:05:00Z' },
  data: { endpoint_id: ID.endpoint, message: 'This is a test.', is_live: false },
  deliveries: [
    { ...delivery, event: 'webhook.test', status: 'pending', attempts: [], next_attempt_at: null, created_at: '2026-11-20T09:05:00Z' },
  ],
};

/** What the examples of routes and webhooks are made of. */
export const EXAMPLE = {
  ...{ ID, TOKEN, SECRET, HASH, customer, deposit, endpoint, delivery, link, paidLink, publicPayment, event, testEvent },
  ...{ balance, merchantBalance },
} as const;

/** One page that holds everything. */
export function exampleList(...data: readonly object[]) {
  return { data, has_more: false, pagination: { page: 1, limit: 25, total: data.length, total_pages: 1 } };
}

const failedDeposit = { status: 'failed', failure_code: 'REORGED', failure_reason: 'its block was replaced', block_hash: null };

/** The body of each event. */
export const EXAMPLE_EVENTS: Readonly<Record<AnyEventType, { event: AnyEventType; data: object; timestamp: string }>> = {
  'deposit.detected': eventOf('deposit.detected', '2026-11-20T09:29:48Z', { ...deposit, ...notYet('detected', 0, 1) }),
  'deposit.confirming': eventOf('deposit.confirming', '2026-11-20T09:29:51Z', { ...deposit, ...notYet('confirming', 1, 2) }),
  'deposit.completed': eventOf('deposit.completed', '2026-11-20T09:30:00Z', deposit),
  'deposit.settled': eventOf('deposit.settled', '2026-11-20T09:40:00Z', {
    ...deposit,
    ...{ status: 'settled', sequence: 4, settled_at: '2026-11-20T09:40:00Z' },
  }),
  'deposit.failed': eventOf('deposit.failed', '2026-11-20T09:31:00Z', { ...deposit, ...notYet('failed', 0, 3), ...failedDeposit }),
  'customer.created': eventOf('customer.created', '2026-11-20T09:00:00Z', customer),
  'payment.completed': eventOf('payment.completed', '2026-11-20T10:12:00Z', paidLink),
  'webhook.test': eventOf('webhook.test', '2026-11-20T09:05:00Z', testEvent.data),
};

function eventOf(event: AnyEventType, timestamp: string, data: object) {
  return { event, data, timestamp };
}

function notYet(status: string, confirmations: number, sequence: number) {
  return { status, confirmations, sequence, completed_at: null };
}
