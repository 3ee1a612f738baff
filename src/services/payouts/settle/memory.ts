import type { AddressKey } from '../../../chains/address-key.ts';
import type { Network } from '../../../domain/assets.ts';
import type { Wait } from '../../../domain/payouts/facts.ts';

/** A wait, with the coins that somebody has to send first, if so. */
export type Held = Wait & {
  readonly needs?: { readonly units: bigint; readonly address: string } | undefined;
};

/** What steps of one process tell each other, so that thousands of addresses do not ask for the same. */
export type PayoutMemory = {
  /** That the gas wallet had too little, until it is asked again; with what it held, and when. */
  readonly lacking: Map<
    Network,
    { readonly wait: Held; readonly until: number; readonly coins: bigint; readonly at: Date }
  >;
  /** The coins of the wallet that was asked about last: all payouts of a chain ask about the same one. */
  readonly coins: Map<
    Network,
    {
      readonly addressKey: AddressKey;
      readonly blockNumber: number;
      readonly units: bigint;
      readonly atMs: number;
    }
  >;
  /** Until when transfers are tried with care, because one has failed. */
  readonly carefulUntil: Map<Network, number>;
};

/** Nothing is known yet. */
export const newMemory = (): PayoutMemory => ({
  lacking: new Map(),
  coins: new Map(),
  carefulUntil: new Map(),
});
