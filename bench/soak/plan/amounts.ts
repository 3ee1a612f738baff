import { parseUnits } from 'ethers';
import type { Currency, Network } from '../../../src/domain/assets.ts';

/** What can be credited on one chain: how it is counted, and from how much on. */
export type AssetFigures = {
  readonly network: Network;
  readonly currency: Currency;
  /** As the gateway's settings call it. */
  readonly name: string;
  readonly decimals: number;
  /** The smallest deposit that is credited, in coins. */
  readonly minimum: string;
  /** Below this nothing becomes a deposit, in coins. */
  readonly dustFloor: string;
};

/** Every asset of a run; the gateway gets the same figures. */
export const FIGURES: readonly AssetFigures[] = [
  { network: 'bsc', currency: 'USDT', name: 'USDT.bsc', decimals: 18, minimum: '1', dustFloor: '0.001' },
  { network: 'bsc', currency: 'BNB', name: 'BNB', decimals: 18, minimum: '0.001', dustFloor: '0.000001' },
  { network: 'tron', currency: 'USDT', name: 'USDT.tron', decimals: 6, minimum: '1', dustFloor: '0.001' },
  { network: 'tron', currency: 'TRX', name: 'TRX', decimals: 6, minimum: '1', dustFloor: '0.01' },
];

function figuresOf(network: Network, currency: Currency): AssetFigures {
  const figures = FIGURES.find((one) => one.network === network && one.currency === currency);
  if (!figures) throw new Error(`nothing is paid in ${currency} on ${network}`);
  return figures;
}

/** An amount in coins as base units of this asset. */
export function unitsOf(network: Network, currency: Currency, amount: string): bigint {
  return parseUnits(amount, figuresOf(network, currency).decimals);
}

/** The smallest deposit of an asset that is credited, in base units. */
export function minimumUnits(network: Network, currency: Currency): bigint {
  return unitsOf(network, currency, figuresOf(network, currency).minimum);
}

/** Below this nothing becomes a deposit, in base units. */
export function dustFloorUnits(network: Network, currency: Currency): bigint {
  return unitsOf(network, currency, figuresOf(network, currency).dustFloor);
}
