import { createHash } from 'node:crypto';
import type { Currency, Network } from '../../../src/domain/assets.ts';
import type { Shape } from './shapes.ts';

/**
 * What is done in a run and when, decided by the seed alone.
 * How it interleaves with the gateway is up to the machine.
 */
export const MERCHANTS = ['A', 'B', 'C'] as const;
export type MerchantName = (typeof MERCHANTS)[number];
/** Those who are paid out; of the others every deposit rests at `completed`. */
export const PAID_OUT: readonly MerchantName[] = ['A', 'B'];
export const VICTIMS = ['api', 'worker-1', 'worker-2', 'signer', 'temporal', 'postgres'] as const;
export type Victim = (typeof VICTIMS)[number];
/** Those that are also stopped without being ended. */
export const FROZEN = ['worker-1', 'worker-2', 'signer', 'api'] as const satisfies readonly Victim[];
export const OUTCOMES = ['completed', 'detected', 'confirming', 'failed', 'settled', 'reorged'] as const;

export type Action =
  | {
      readonly kind: 'customer';
      readonly number: number;
      readonly merchant: MerchantName;
      readonly mode: 'live' | 'test';
      readonly externalId: string;
    }
  | {
      readonly kind: 'pay';
      readonly network: Network;
      readonly shape: Shape;
      readonly sender: number;
      /** Numbers of the customers who are paid; one of test mode for `to_test_address`. */
      readonly customers: readonly number[];
      /** Base units, one for each customer, or for each transfer to one. */
      readonly amounts: readonly string[];
      /** Of BNB Chain; of no meaning elsewhere. */
      readonly transactionType: 0 | 1 | 2 | 4;
    }
  | {
      readonly kind: 'simulate';
      readonly customer: number;
      readonly network: Network;
      readonly currency: Currency;
      readonly amount: string;
      readonly outcome: (typeof OUTCOMES)[number];
      readonly events: 'final' | 'full';
      readonly hash: string;
    }
  /** What becomes of what replaced blocks held: gone, mined in another one at once, sent again later. */
  | {
      readonly kind: 'reorg';
      readonly network: Network;
      readonly depth: number;
      readonly fate: 'drop' | 'move' | 'resend';
      readonly resendAfterMs: number;
    }
  /**
   * A payment that is seen, replaced away, withdrawn when finality
   * has passed it, and mined again after that: a second generation.
   */
  | { readonly kind: 'reborn'; readonly network: Network; readonly payment: ActionOf<'pay'> }
  /** Coins for the wallet that pays for gas, which by then has run empty. */
  | { readonly kind: 'refill'; readonly network: Network }
  /** A merchant is to be paid out elsewhere from now on, on every chain. */
  | { readonly kind: 'redirect'; readonly merchant: MerchantName }
  /** A payout loses its block: only the gateway sends it again. */
  | { readonly kind: 'unpay'; readonly network: Network }
  | {
      readonly kind: 'rpc';
      readonly network: Network;
      readonly endpoints: readonly number[];
      readonly fault: string;
      readonly forMs: number;
    }
  /**
   * The second endpoint lies about the newest blocks, mostly while the
   * first one does not answer; the tip may be replaced in the middle of it.
   */
  | {
      readonly kind: 'lie';
      readonly network: Network;
      readonly lie: string;
      readonly alone: boolean;
      readonly reorgDepth: number;
      readonly forMs: number;
    }
  | { readonly kind: 'kill'; readonly victim: Victim; readonly downMs: number }
  /** The process stops where it is, in a transaction perhaps, and goes on later: a paused machine. */
  | { readonly kind: 'freeze'; readonly victim: Victim; readonly forMs: number };
export type ActionOf<K extends Action['kind']> = Extract<Action, { kind: K }>;
export type At<T> = T & { readonly atMs: number };
export type Plan = {
  readonly seed: string;
  readonly lastsMs: number;
  readonly actions: readonly At<Action>[];
};

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

/** What an action is called where actions are counted. */
export function nameOf(action: Action): string {
  const what =
    action.kind === 'pay'
      ? action.shape
      : action.kind === 'reborn'
        ? action.payment.shape
        : action.kind === 'lie'
          ? action.lie
          : action.kind === 'rpc'
            ? action.fault
            : action.kind === 'reorg'
              ? action.fate
              : 'victim' in action
                ? action.victim
                : '';
  return [...('network' in action ? [action.network] : []), action.kind, what].join(' ').trim();
}
