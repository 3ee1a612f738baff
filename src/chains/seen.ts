import type { AddressKey } from './address-key.ts';

/** A movement of money as an endpoint shows it. `contract` is null for the chain's coin. */
export type SeenMove = {
  readonly to: AddressKey;
  readonly contract: AddressKey | null;
  readonly units: bigint;
};

/** A transaction as one endpoint shows it, for a person who asks what became of it: no proof of money. */
export type SeenTransaction = {
  /** Null while it is in no block. */
  readonly blockNumber: number | null;
  readonly outcome: 'waits' | 'succeeded' | 'failed';
  readonly from: AddressKey | null;
  /** The first of them, in its order; coins that a contract passed on only where endpoints show them. */
  readonly moves: readonly SeenMove[];
};
