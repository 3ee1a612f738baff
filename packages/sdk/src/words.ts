// Made by "npm run docs" from the schemas that check every request and every answer; not to be
// changed by hand. Coin amounts are decimal strings: never make numbers of them. Members that
// end in `_usd` are numbers with at most two decimals. Times are ISO-8601 in UTC, whole seconds.

export type Network = 'bsc' | 'tron';
export type Currency = 'BNB' | 'TRX' | 'USDT';
export type DepositStatus = 'detected' | 'confirming' | 'completed' | 'settled' | 'failed';
export type FailureCode = 'MONTHLY_LIMIT' | 'REORGED' | 'BELOW_MINIMUM' | 'REJECTED_BY_OPERATOR';
export type PaymentLinkStatus =
  | 'pending'
  | 'processing'
  | 'partially_paid'
  | 'completed'
  | 'expired'
  | 'cancelled';
export type AmountStatus = 'none' | 'underpaid' | 'exact' | 'overpaid' | 'late';
export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';
export type EventType =
  | 'deposit.detected'
  | 'deposit.confirming'
  | 'deposit.completed'
  | 'deposit.settled'
  | 'deposit.failed'
  | 'customer.created'
  | 'payment.completed'
  | 'payment.partially_paid'
  | 'payment.late'
  | 'payment.expired'
  | 'payment.cancelled';
