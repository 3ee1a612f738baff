// What a chain brings along to be tested as every chain is.
import type { AddressKey } from '../../../src/chains/address-key.ts';
import type { ChainReader } from '../../../src/chains/reader.ts';
import type { Currency, Network } from '../../../src/domain/assets.ts';

/**
 * How an endpoint misbehaves: nobody is there, it never answers,
 * it leaves out what a block brought, it serves another chain.
 */
export const ENDPOINT_FAULTS = [
  'is away',
  'hangs',
  'leaves out what the block brought',
  'serves another chain',
] as const;
/** And it names its newest block as final, which keeps nobody from reading blocks. */
export type EndpointFault = (typeof ENDPOINT_FAULTS)[number] | 'calls its newest block final';

/** A way of its own to the stage's node. */
export type StageEndpoint = {
  readonly host: string;
  fail(fault: EndpointFault): void;
  /** Shows nothing above this height. */
  lagAt(height: number): void;
  heal(): void;
};

/** A running node of the chain, and what happens on it. Nothing is mined until a test says so. */
export type ChainStage = {
  readonly network: Network;
  /** The sender of every payment. */
  readonly payer: AddressKey;
  /** The sender of every payment in vain. */
  readonly poor: AddressKey;
  /** At least two. */
  readonly endpoints: readonly StageEndpoint[];
  /** How many blocks the final one is behind the head. */
  readonly finalDistance: number;
  /**
   * Whether its readers tell balances: one that has lost them
   * compares nothing any more, and says nothing about it.
   */
  readonly tellsBalances: boolean;
  /** A new reader over these endpoints, the first of them preferred; `timeoutMs` for each question. */
  readerOf(endpoints: readonly StageEndpoint[], timeoutMs?: number): ChainReader;
  /** Mines and returns the height of the head. */
  mine(blocks?: number): Promise<number>;
  /** Puts a payment into the next block and returns its hash. */
  pay(payment: {
    readonly to: AddressKey;
    readonly currency: Currency;
    readonly units: bigint;
  }): Promise<string>;
  /**
   * The same with a payment of our token that fails on the
   * chain: its transaction is there, and nothing moved.
   */
  payInVain(payment: { readonly to: AddressKey; readonly units: bigint }): Promise<string>;
  /** The same with another token, whose contract tells of payments as ours does. */
  payForeign(payment: { readonly to: AddressKey; readonly units: bigint }): Promise<string>;
  /** What the node says that a transaction cost its sender, in base units of the coin. */
  feeOf(txHash: string): Promise<bigint>;
  /** Replaces the newest blocks by as many others without their payments. */
  replace(blocks: number): Promise<void>;
  /** A hash that no transaction has. */
  readonly unknownHash: string;
  stop(): Promise<void>;
};
