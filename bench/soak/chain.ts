import type { Network } from '../../src/domain/assets.ts';
import type { ChainTruth, TruthRules } from './oracle/truth.ts';
import type { PayAction } from './plan/plan.ts';

/**
 * What an address holds and how often it has sent, as the chain
 * itself keeps it; null on a chain that does not count that.
 */
export type Holdings = {
  readonly usdtUnits: bigint;
  readonly coinUnits: bigint;
  readonly sent: number | null;
};

/** A transaction as it was sent, by which it can be sent again with the same bytes. */
export type Sent = { readonly hash: string; readonly raw: string };

/**
 * One chain of a run: who pays on it, how its newest blocks are replaced, what its endpoints do
 * wrong and what it says in the end. Addresses are written as the API shows them, except those
 * of BNB Chain, which are in lower case. All that changes the chain happens one at a time.
 */
export type SoakChain = {
  readonly network: Network;
  /** What the gateway has to be told to watch it, the smallest deposits and the dust floor excepted. */
  readonly env: NodeJS.ProcessEnv;
  pid(): number | undefined;

  mine(blocks?: number): Promise<void>;
  head(): Promise<number>;
  /** Transactions that could be mined now. */
  pending(): Promise<number>;
  /**
   * Puts one planned payment into the pool and returns its hash; `to` are the customers' addresses,
   * `ownKey` the private key (hex without prefix) that pays instead of a sender.
   */
  pay(action: PayAction, to: readonly string[], ownKey?: string): Promise<string>;
  holdings(address: string): Promise<Holdings>;
  /**
   * Replaces every block from the one that holds this transaction on; the other transactions move,
   * this one goes. Undefined where it is in no block or too deep for a reorg, or `when` says no.
   * While `when` looks, the chain stands still.
   */
  drop(hash: string, when: () => Promise<boolean>): Promise<Sent | undefined>;
  /** Replaces the newest blocks; returns what they held. With `move` that goes into the new blocks. */
  reorg(depth: number, move: boolean): Promise<Sent[]>;
  sendAgain(sent: Sent): Promise<void>;

  /**
   * Sets a fault by its name on some endpoints until it is lifted
   * or replaced. Throws for a name that is none.
   */
  trouble(fault: string, endpoints: readonly number[]): Lift;
  /** The second endpoint lies; with `alone` the first one does not answer meanwhile. */
  lie(name: string, alone: boolean): Lift;
  /** Takes away every fault. */
  heal(): void;

  /** Every canonical block, read over HTTP with none of the gateway's code. */
  truth(customers: TruthRules): Promise<ChainTruth>;
  stop(): Promise<void>;
};

/** Takes a fault away, unless another one has replaced it meanwhile. */
export type Lift = () => void;
