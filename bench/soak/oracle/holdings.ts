import { NATIVE_CURRENCY, type Network } from '../../../src/domain/assets.ts';
import type { Holdings } from '../chain.ts';
import type { Difference } from './compare.ts';
import { placeKey, type Truth } from './truth.ts';

export type Holding = Holdings & { readonly network: Network; readonly address: string };

/**
 * The oracle's own reading of the transactions against the balances that each chain keeps itself: a way
 * to pay that the oracle did not understand would show here. An address that sent something is left out.
 */
export function compareHoldings(holdings: readonly Holding[], truth: Truth): Difference[] {
  const found: Difference[] = [];
  for (const { network, address, usdtUnits, coinUnits, sent } of holdings) {
    if (sent > 0) continue;
    for (const [currency, is] of [
      ['USDT', usdtUnits],
      [NATIVE_CURRENCY[network], coinUnits],
    ] as const) {
      const place = placeKey(network, address, currency);
      const must = truth.arrived.get(place) ?? 0n;
      if (is !== must)
        found.push({
          rule: 'the oracle reads the chain as the chain does',
          subject: place,
          detail: `${is} units lie there, ${must} were seen to arrive`,
        });
    }
  }
  return found;
}
