// Made by "npm run docs" from the schemas that check every request and every answer; not to be
// changed by hand. Coin amounts are decimal strings: never make numbers of them. Members that
// end in `_usd` are numbers with at most two decimals. Times are ISO-8601 in UTC, whole seconds.

import type {
  Network,
  Currency,
} from './words.ts';

/** At least one of `external_id` and `email`. */
export type NewCustomer = {
  external_id?: string | null;
  email?: string | null;
  name?: string | null;
  metadata?: Record<string, unknown> | null;
};

/** A rehearsal; without members 10 USDT on bsc, completed, and announced once. */
export type Simulation = {
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
export type PaymentRequest = {
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
