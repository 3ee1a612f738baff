import { CHAINS } from '../../../../src/chains/index.ts';
import type { Network } from '../../../../src/domain/assets.ts';
import { type PayingChain, startPayingBsc } from './paying-chain.ts';
import { startPayingTron } from './paying-tron.ts';

const STARTS: Readonly<Record<Network, () => Promise<PayingChain>>> = {
  bsc: startPayingBsc,
  tron: startPayingTron,
};

/** Starts every chain on which payouts are made. */
export async function startPayingChains(): Promise<PayingChain[]> {
  const paying = CHAINS.filter(({ paysOut }) => paysOut);
  return await Promise.all(paying.map(({ network }) => STARTS[network]()));
}
