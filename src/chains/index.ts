import type { Network } from '../domain/assets.ts';
import { BSC } from './bsc/chain.ts';
import { BSC_SETTINGS, type BscSettings } from './bsc/settings.ts';
import type { Chain, ChainIo, OpenChain } from './chain.ts';
import { ENDPOINT_VARIABLES } from './endpoint-variables.ts';
import { TRON } from './tron/chain.ts';
import { TRON_SETTINGS, type TronSettings } from './tron/settings.ts';

/** Every chain of the product, in the order in which merchants and payers see them. */
export const CHAINS: readonly Chain[] = [BSC, TRON];

/** The chain whose contracts tell prices. */
export const PRICE_CHAIN: Chain = BSC;

/** The variables of all chains, in the order of the documentation. */
export const CHAIN_VARIABLES = {
  ...ENDPOINT_VARIABLES,
  ...BSC_SETTINGS.variables,
  ...TRON_SETTINGS.variables,
} as const;

/** What is configured for each chain. */
export type ChainsSettings = { readonly bsc: BscSettings; readonly tron: TronSettings };

const BY_NETWORK: Readonly<Record<Network, Chain>> = { bsc: BSC, tron: TRON };

/** What is true of the chain behind a network's identifier. */
export function chainOf(network: Network): Chain {
  return BY_NETWORK[network];
}

/** One value for each network, in the order of {@link CHAINS}. */
export function byNetwork<T>(of: (chain: Chain) => T): Record<Network, T> {
  return Object.fromEntries(CHAINS.map((chain) => [chain.network, of(chain)])) as Record<Network, T>;
}

/** The settings of every chain from the parsed values of {@link CHAIN_VARIABLES}. */
export function chainsSettings(values: Readonly<Record<string, unknown>>): ChainsSettings {
  return byNetwork(({ settings }) => settings.read(values)) as ChainsSettings;
}

/** The chains that a worker reads: those with endpoints, of which this version has a reader. */
export function watchedChains(settings: ChainsSettings): readonly Chain[] {
  return CHAINS.filter(({ network, open }) => open !== undefined && settings[network].enabled);
}

/** The chains that this version can read, whether they are configured or not. */
export const READABLE_CHAINS: readonly Chain[] = CHAINS.filter(({ open }) => open !== undefined);

/** The variables that make this version watch a chain, as a list within a sentence. */
export const WATCH_VARIABLES = READABLE_CHAINS.map(({ watchedBy }) => watchedBy).join(' or ');

/** Opens every chain that is watched. */
export async function openChains(
  settings: ChainsSettings,
  io: ChainIo,
): Promise<ReadonlyMap<Network, OpenChain>> {
  const opened = new Map<Network, OpenChain>();
  for (const chain of watchedChains(settings)) {
    const open = await chain.open?.(settings[chain.network], io);
    if (open) opened.set(chain.network, open);
  }
  return opened;
}
