import type { AddressKey } from '../../../chains/address-key.ts';
import type { Network } from '../../../domain/assets.ts';
import type { PayoutState } from '../../../domain/settlement.ts';
import type { Deps } from '../../deps.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';
import type { Asks } from './asking.ts';
import type { PayoutMemory } from './memory.ts';

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
