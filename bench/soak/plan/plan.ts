import { createHash } from 'node:crypto';
import type { Currency, Network } from '../../../src/domain/assets.ts';
import type { Trouble } from './plan-troubles.ts';

/**
 * What is done in a run and when, decided by the seed alone.
 * How it interleaves with the gateway is up to the machine.
 */
export const MERCHANTS = ['A', 'B', 'C'] as const;
export type MerchantName = (typeof MERCHANTS)[number];
/** Those who are paid out; of the others every deposit rests at `completed`. */
export const PAID_OUT: readonly MerchantName[] = ['A', 'B'];

export const OUTCOMES = ['completed', 'detected', 'confirming', 'failed', 'settled', 'reorged'] as const;
export const RECEIVERS = [
  'healthy-a',
  'flaky',
  'slow',
  'healthy-b',
  'hanging',
  'resetting',
  'healthy-c',
  'healthy-test',
] as const;
export type ReceiverName = (typeof RECEIVERS)[number];

export type CustomerAction = {
  readonly kind: 'customer';
  readonly number: number;
  readonly merchant: MerchantName;
  readonly mode: 'live' | 'test';
  readonly externalId: string;
};
export type PayAction = {
  readonly kind: 'pay';
  readonly network: Network;
  /** One of the names that this network's chain knows. */
  readonly shape: string;
  readonly sender: number;
  /** Numbers of the customers who are paid; one of test mode for `to_test_address`. */
  readonly customers: readonly number[];
  /** Base units, one for each customer, or for each transfer to one. */
  readonly amounts: readonly string[];
  /** Of BNB Chain; of no meaning elsewhere. */
  readonly transactionType: 0 | 1 | 2 | 4;
};
export type SimulateAction = {
  readonly kind: 'simulate';
  readonly customer: number;
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: string;
  readonly outcome: (typeof OUTCOMES)[number];
  readonly events: 'final' | 'full';
  readonly hash: string;
};
/**
 * What becomes of the transactions of replaced blocks: gone,
 * mined in another block at once, or sent again later.
 */
export type ReorgAction = {
  readonly kind: 'reorg';
  readonly network: Network;
  readonly depth: number;
  readonly fate: 'drop' | 'move' | 'resend';
  readonly resendAfterMs: number;
};
/**
 * A payment that is seen, replaced away, withdrawn when finality
 * has passed it, and mined again after that: a second generation.
 */
export type RebornAction = {
  readonly kind: 'reborn';
  readonly network: Network;
  readonly payment: PayAction;
};
/** Coins for the wallet that pays for gas, which by then has run empty. */
export type RefillAction = { readonly kind: 'refill'; readonly network: Network };
/** A merchant is to be paid out elsewhere from now on, on every chain. */
export type RedirectAction = { readonly kind: 'redirect'; readonly merchant: MerchantName };
/** A payout loses its block: only the gateway sends it again. */
export type UnpayAction = { readonly kind: 'unpay'; readonly network: Network };
export type PayoutAction = RefillAction | RedirectAction | UnpayAction;
export type Action =
  | CustomerAction
  | PayAction
  | SimulateAction
  | ReorgAction
  | RebornAction
  | PayoutAction
  | Trouble;
export type Planned = Action & { readonly atMs: number };
export type Plan = { readonly seed: string; readonly lastsMs: number; readonly actions: readonly Planned[] };

/**
 * Many, so that a transaction that a reorg threw out mostly
 * finds its number still free when it is sent again.
 */
export const SENDERS = 24;
/**
 * The last of them pays what is to be mined a second time,
 * and nothing else: its number must still be free then.
 */
export const SENDER_COUNT = SENDERS + 1;
/**
 * The one customer out of whose wallets the run itself spends, as only a
 * payout would. Balances of these addresses fall without a reason that the
 * ledger knows, so nothing is sent there that only balances could tell.
 */
export const OWN_WALLET = 0;

/** Names a plan: equal plans have equal hashes. */
export function planHash(plan: Plan): string {
  return createHash('sha256').update(JSON.stringify(plan)).digest('hex').slice(0, 16);
}
