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
  /** What an address has to hold in completed deposits before it is paid out, in coins. */
  readonly settleMin: string;
};

/** Every asset of a run; the gateway gets the same figures. */
export const FIGURES: readonly AssetFigures[] = [
  of('bsc', 'USDT', 'USDT.bsc', 18, { minimum: '1', dustFloor: '0.001', settleMin: '3' }),
  of('bsc', 'BNB', 'BNB', 18, { minimum: '0.001', dustFloor: '0.000001', settleMin: '0.003' }),
  of('tron', 'USDT', 'USDT.tron', 6, { minimum: '1', dustFloor: '0.001', settleMin: '30' }),
  of('tron', 'TRX', 'TRX', 6, { minimum: '1', dustFloor: '0.01', settleMin: '10' }),
];

type Amounts = Pick<AssetFigures, 'minimum' | 'dustFloor' | 'settleMin'>;

function of(
  network: Network,
  currency: Currency,
  name: string,
  decimals: number,
  amounts: Amounts,
): AssetFigures {
  return { network, currency, name, decimals, ...amounts };
}

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

/** What an address has to hold in completed deposits before it is paid out, in base units. */
export function settleMinUnits(network: Network, currency: Currency): bigint {
  return unitsOf(network, currency, figuresOf(network, currency).settleMin);
}
