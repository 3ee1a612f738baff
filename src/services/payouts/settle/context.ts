import type { AddressKey } from '../../../chains/address-key.ts';
import type { Spending } from '../../../chains/spending.ts';
import type { Currency, Network } from '../../../domain/assets.ts';
import type { Wait } from '../../../domain/payouts/facts.ts';
import type { PayoutState } from '../../../domain/settlement.ts';
import type { Deps } from '../../deps.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';
import type { Asks, Turn } from './asking.ts';

export type SettlementDeps = Deps & {
  readonly chains: ReadonlyMap<string, WatchedChain>;
  /** Unset: any number of steps may ask endpoints at a time. */
  readonly asks?: Asks | undefined;
  /** Unset: a step knows nothing of those before it. */
  readonly memory?: PayoutMemory | undefined;
};

/** The address whose completed deposits are paid out. `alarmed`: its wait was reported already. */
export type SettlementInput = {
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly alarmed: boolean;
};

export type SettlementStep =
  /** A step was made: look again at once. */
  | { readonly kind: 'went'; readonly state: PayoutState; readonly note: string }
  /** Nothing is to be done before something changes, of which the actor is told. */
  | { readonly kind: 'rest'; readonly note: string }
  | { readonly kind: 'wait'; readonly reason: string; readonly delayMs: number; readonly stuck: boolean };

/** Money of one asset on one address, and where it is to go. */
export type Outgoing = {
  /** Null before it is planned. */
  readonly payoutId: string | null;
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly address: string;
  readonly currency: Currency;
  readonly grossUnits: bigint;
  readonly destination: string;
};

/** The wallet that pays for gas on a network. */
export type GasWallet = { readonly address: string; readonly addressKey: AddressKey };

type Terms = Readonly<Record<string, string | number>>;
/** The next transaction that it takes. */
export type Ready =
  | { readonly does: 'pay_out'; readonly units: bigint; readonly terms: Terms }
  | {
      readonly does: 'top_up' | 'lend';
      readonly from: GasWallet;
      readonly units: bigint;
      readonly terms: Terms;
    };

export type Assessing = Deps & {
  readonly chain: WatchedChain;
  readonly spending: Spending;
  readonly signal: AbortSignal;
  readonly turn?: Turn | undefined;
  readonly memory: PayoutMemory;
};

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
