/** Ways in which money, or what looks like it, moves to customers on Tron. The numbers say how often. */
export const TRON_SHAPES = {
  usdt: 26,
  usdt_transfer_from: 8,
  usdt_through_contract: 8,
  usdt_batch: 8,
  usdt_twice_to_one: 8,
  usdt_pulled_by_contract: 6,
  trx: 16,
  trx_with_memo: 6,
  trx_through_contract: 6,
  trx_batch: 3,
  trx_passed_on: 4,
  trx_by_creation: 4,
  trx_by_selfdestruct: 4,
  trx_and_usdt: 5,
  usdt_dust: 4,
  trx_dust: 3,
  usdt_zero: 4,
  usdt_failed: 5,
  usdt_out_of_energy: 4,
  fake_token: 4,
  spoofed_event: 4,
  usdt_undone: 3,
  trx_undone: 3,
  trx_borrowed: 2,
  trx_from_own_wallet: 3,
  usdt_from_own_wallet: 2,
  to_test_address: 3,
} as const;
export type TronShape = keyof typeof TRON_SHAPES;

/**
 * What an address of a node does wrong. Of what is irreversible it shows too little here, never what is not
 * so: infos have no proof of their own, and the read after finality believes them.
 */
export const TRON_FAULTS = [
  'slow',
  'lags',
  'lags at every second answer',
  'its head goes back',
  'its irreversible head goes back',
  'its irreversible head stands still',
  'has nothing',
  'is another chain',
  'throttles',
  'bans',
  'answers 429',
  'answers 503',
  'answers 413',
  'answers HTML',
  'redirects',
  'cuts its answers',
  'drips',
  'hangs',
  'resets',
  'infos of another fork',
  'infos of another time',
  'infos of another height',
  'one info too few',
  'infos in another order',
  'no infos',
  'no internal transactions',
  'does not say that it took what is sent',
  'drops what is sent',
  'is too busy to be sent anything',
  'the node is restarted',
] as const;
export type TronFaultName = (typeof TRON_FAULTS)[number];

/**
 * What the second address says that is not so, mostly while the first one does not answer: only of what can
 * still be replaced. What is irreversible it tells as it is.
 */
export const TRON_LIES = [
  'other amounts',
  'logs left out',
  'logs doubled',
  'hangs on a replaced tip',
  'hangs on a replaced tip, head and all',
] as const;
export type TronLie = (typeof TRON_LIES)[number];
