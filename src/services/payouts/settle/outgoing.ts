// Money that is to leave an address, and what its next transaction is or why it waits.
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Currency, Network } from '../../../domain/assets.ts';
import type { Deps } from '../../deps.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';
import type { Turn } from './asking.ts';
import type { GasWallet } from './coins.ts';
import type { PayoutMemory } from './memory.ts';

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
  readonly signal: AbortSignal;
  readonly turn?: Turn | undefined;
  readonly memory: PayoutMemory;
};
