import { NATIVE_CURRENCY, type Network } from '../../../src/domain/assets.ts';
import type { Holdings } from '../chain.ts';
import type { Difference } from './compare.ts';
import { placeKey, type Truth } from './truth.ts';

export type Holding = Holdings & { readonly network: Network; readonly address: string };

/**
 * The oracle's own reading of the transactions against the balances that each chain keeps itself: a way to
 * pay, to be paid or to burn coins that the oracle did not understand would show here.
 */
export function compareHoldings(holdings: readonly Holding[], truth: Truth): Difference[] {
  const found: Difference[] = [];
  const rule = 'the oracle reads the chain as the chain does';
  const left = leftOf(truth);
  for (const { network, address, usdtUnits, coinUnits, sent } of holdings) {
    for (const [currency, is] of [
      ['USDT', usdtUnits],
      [NATIVE_CURRENCY[network], coinUnits],
    ] as const) {
      const place = placeKey(network, address, currency);
      const must = (truth.arrived.get(place) ?? 0n) - (left.get(place) ?? 0n);
      if (is !== must)
        found.push({ rule, subject: place, detail: `${is} units lie there, ${must} were seen to stay` });
    }
    const seen = truth.sent.filter((one) => one.network === network && one.from === address).length;
    if (sent !== null && sent !== seen)
      found.push({ rule, subject: address, detail: `it sent ${sent} transactions, ${seen} were seen` });
  }
  return found;
}

/** What went from each place with our own transactions, fees included. */
function leftOf({ sent }: Truth): ReadonlyMap<string, bigint> {
  const left = new Map<string, bigint>();
  const take = (place: string, units: bigint) => void left.set(place, (left.get(place) ?? 0n) + units);
  for (const { network, from, feeUnits, moves } of sent) {
    take(placeKey(network, from, NATIVE_CURRENCY[network]), feeUnits);
    for (const { currency, amountUnits } of moves) take(placeKey(network, from, currency), amountUnits);
  }
  return left;
}
