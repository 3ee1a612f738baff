import { parseUnits } from 'ethers';
import type { Currency, Network } from '../../../src/domain/assets.ts';

/**
 * Every asset of a run, `name` as the gateway's settings call it, which are given the same amounts in
 * coins: the smallest deposit that is credited; below what nothing becomes a deposit; and what an
 * address has to hold in completed deposits before it is paid out.
 */
export const FIGURES = [
  { on: 'bsc USDT', name: 'USDT.bsc', decimals: 18, minimum: '1', dustFloor: '0.001', settleMin: '3' },
  { on: 'bsc BNB', name: 'BNB', decimals: 18, minimum: '0.001', dustFloor: '0.000001', settleMin: '0.003' },
  { on: 'tron USDT', name: 'USDT.tron', decimals: 6, minimum: '1', dustFloor: '0.001', settleMin: '30' },
  { on: 'tron TRX', name: 'TRX', decimals: 6, minimum: '1', dustFloor: '0.01', settleMin: '10' },
] as const;

function figuresOf(network: Network, currency: Currency): (typeof FIGURES)[number] {
  const figures = FIGURES.find(({ on }) => on === `${network} ${currency}`);
  if (!figures) throw new Error(`nothing is paid in ${currency} on ${network}`);
  return figures;
}

/** An amount in coins as base units of this asset. */
export function unitsOf(network: Network, currency: Currency, amount: string): bigint {
  return parseUnits(amount, figuresOf(network, currency).decimals);
}

/** One of the three limits of an asset, in base units. */
export function leastUnits(
  which: 'minimum' | 'dustFloor' | 'settleMin',
  network: Network,
  currency: Currency,
): bigint {
  return unitsOf(network, currency, figuresOf(network, currency)[which]);
}
