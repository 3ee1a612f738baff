import type { Network } from '../domain/assets.ts';
import { BSC } from './bsc/chain.ts';
import { BSC_SETTINGS, type BscSettings } from './bsc/settings.ts';
import type { Chain, ChainIo, OpenChain } from './chain.ts';
import { ENDPOINT_VARIABLES } from './endpoint-variables.ts';
import { TRON } from './tron/chain.ts';
import { TRON_SETTINGS, type TronSettings } from './tron/settings.ts';

/** Every chain of the product, in the order in which merchants and payers see them. */
export const CHAINS: readonly Chain[] = [BSC, TRON];

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

/** What is wrong with parsed values of {@link CHAIN_VARIABLES} together, each a sentence without a secret. */
export function chainProblems(values: Readonly<Record<string, unknown>>): string[] {
  return TRON_SETTINGS.problems(values);
}

/** The chains that a worker reads: those with endpoints. */
export function watchedChains(settings: ChainsSettings): readonly Chain[] {
  return CHAINS.filter(({ network }) => settings[network].enabled);
}

/** The variables that make a worker watch a chain, as a list within a sentence. */
export const WATCH_VARIABLES = CHAINS.map(({ watchedBy }) => watchedBy).join(' or ');

/** The chains whose contracts can tell prices: the first of them that is watched does. */
export const PRICE_CHAINS: readonly Chain[] = CHAINS.filter(({ prices }) => prices !== undefined);

/** The chain whose contracts tell prices; undefined where none that could is watched. */
export function priceChain(settings: ChainsSettings): Chain | undefined {
  return watchedChains(settings).find((chain) => PRICE_CHAINS.includes(chain));
}

/** Opens every chain that is watched. */
export async function openChains(
  settings: ChainsSettings,
  io: ChainIo,
): Promise<ReadonlyMap<Network, OpenChain>> {
  const opened = new Map<Network, OpenChain>();
  for (const chain of watchedChains(settings)) {
    opened.set(chain.network, await chain.open(settings[chain.network], io));
  }
  return opened;
}

/** Where an explorer of each chain is, without a slash at the end. */
export type ExplorerUrls = Readonly<Record<Network, string | undefined>>;

/**
 * The page of an explorer about a transaction or an address, spelled as people see it; null where no explorer
 * is known.
 */
export function explorerLink(
  urls: ExplorerUrls,
  network: Network,
  what: 'transaction' | 'address',
  value: string,
): string | null {
  const base = urls[network];
  return base === undefined ? null : base + chainOf(network).explorerPaths[what] + encodeURIComponent(value);
}
