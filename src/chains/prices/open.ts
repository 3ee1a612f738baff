import type { Network } from '../../domain/assets.ts';
import type { OpenChain } from '../chain.ts';
import { type ChainsSettings, priceChain } from '../index.ts';
import type { PriceChain } from './source.ts';

/** The opened chain that tells prices; undefined where none that could is watched. */
export function openedPriceChain(
  settings: ChainsSettings,
  opened: ReadonlyMap<Network, OpenChain>,
): PriceChain | undefined {
  const chain = priceChain(settings);
  const callContract = chain && opened.get(chain.network)?.callContract;
  return chain?.prices && callContract ? { prices: chain.prices, callContract } : undefined;
}
