import type { Network } from '../domain/assets.ts';
import { BSC } from './bsc/chain.ts';
import type { Chain } from './chain.ts';
import { TRON } from './tron/chain.ts';

/** Every chain of the product, in the order in which merchants and payers see them. */
export const CHAINS: readonly Chain[] = [BSC, TRON];

const BY_NETWORK: Readonly<Record<Network, Chain>> = { bsc: BSC, tron: TRON };

/** What is true of the chain behind a network's identifier. */
export function chainOf(network: Network): Chain {
  return BY_NETWORK[network];
}

/** One value for each network, in the order of {@link CHAINS}. */
export function byNetwork<T>(of: (chain: Chain) => T): Record<Network, T> {
  return Object.fromEntries(CHAINS.map((chain) => [chain.network, of(chain)])) as Record<Network, T>;
}
