import type { ChainTruth } from './chain-truth.ts';
import type { Difference } from './compare.ts';

export type Holding = {
  readonly address: string;
  readonly usdtUnits: bigint;
  readonly bnbUnits: bigint;
  readonly sent: number;
};

/**
 * The oracle's own reading of the transactions against the balances that the chain keeps itself: a way
 * to pay that the oracle did not understand would show here. An address that sent something is left out.
 */
export function compareHoldings(holdings: readonly Holding[], truth: ChainTruth): Difference[] {
  const found: Difference[] = [];
  for (const { address, usdtUnits, bnbUnits, sent } of holdings) {
    if (sent > 0) continue;
    for (const [currency, is] of [
      ['USDT', usdtUnits],
      ['BNB', bnbUnits],
    ] as const) {
      const must = truth.arrived.get(`${address} ${currency}`) ?? 0n;
      if (is !== must)
        found.push({
          rule: 'the oracle reads the chain as the chain does',
          subject: `${address} ${currency}`,
          detail: `${is} units lie there, ${must} were seen to arrive`,
        });
    }
  }
  return found;
}
