import { BLOCK_FAULTS } from '../../../dev/support/faults.ts';

/** Ways in which money, or what looks like it, moves to customers on BNB Chain. The numbers say how often. */
export const BSC_SHAPES = {
  usdt: 26,
  usdt_transfer_from: 8,
  usdt_through_contract: 8,
  usdt_batch: 8,
  usdt_twice_to_one: 8,
  usdt_pulled_by_contract: 6,
  bnb: 16,
  bnb_with_calldata: 6,
  bnb_through_contract: 6,
  bnb_batch: 3,
  bnb_passed_on: 4,
  bnb_by_creation: 4,
  bnb_by_selfdestruct: 4,
  bnb_and_usdt: 5,
  usdt_dust: 4,
  bnb_dust: 3,
  usdt_zero: 4,
  bnb_zero: 3,
  usdt_failed: 5,
  fake_token: 4,
  spoofed_event: 4,
  usdt_undone: 3,
  bnb_undone: 3,
  bnb_borrowed: 2,
  bnb_from_own_wallet: 3,
  usdt_from_own_wallet: 2,
  to_test_address: 3,
} as const;
export type BscShape = keyof typeof BSC_SHAPES;

/**
 * What endpoints do wrong beside the faults of single answers: by the clock, behind
 * the others, where money inside a transaction is read, or where it is to be sent.
 */
const ENDPOINT_FAULTS = [
  'slow',
  'stale_head',
  'missing_block',
  'not_yet_final',
  'accepts_and_resets',
  'trace_unknown',
  'trace_refused',
  'trace_hang',
  'trace_null',
  'trace_empty',
  'trace_cut',
  'trace_of_another',
  'trace_html',
  'broadcast_swallowed',
  'broadcast_unanswered',
  'broadcast_known',
  'broadcast_too_low',
  'gas_price_zero',
  'gas_price_dear',
  'trial_refused',
] as const;
export type EndpointFault = (typeof ENDPOINT_FAULTS)[number];
/** Every name of a fault of an endpoint: the ones above, and each that the fault proxy's own tests know. */
export const BSC_FAULTS: readonly string[] = [...ENDPOINT_FAULTS, ...BLOCK_FAULTS.map(([name]) => name)];

/**
 * What the second endpoint says that is not so, while the first one does not answer: only at the head.
 * What is final it tells as it is, so the read after finality, which decides, is told the truth.
 */
export const BSC_LIES = [
  'other amounts',
  'logs left out',
  'logs doubled',
  'everything failed',
  'hangs on a replaced tip',
  'hangs on a replaced tip, head and all',
] as const;
export type Lie = (typeof BSC_LIES)[number];
