import { assetOf, type Currency, NATIVE_CURRENCY } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import { costsTooMuch, type Priced, percentOf } from '../../../domain/payouts/worth.ts';
import { currentPrice } from '../../deposits/price.ts';
import type { Held } from './memory.ts';
import type { Assessing, Outgoing } from './outgoing.ts';

const MINUTE_MS = 60_000;
const SLOW_MS = 10 * MINUTE_MS;
/** A stale price that is older says nothing of what a fee is worth today. */
const PRICE_AGE_MS = 60 * MINUTE_MS;

/** Why a cost is not to be paid for this money at present; undefined where it is. */
export async function tooDear(
  deps: Assessing,
  money: Pick<Outgoing, 'network' | 'currency' | 'grossUnits'>,
  costUnits: bigint,
): Promise<Held | undefined> {
  const { network, currency, grossUnits } = money;
  const coin = NATIVE_CURRENCY[network];
  const { maxFeeBasisPoints } = deps.settings.payouts;
  // The same asset on both sides: no price is needed.
  const [coinUsd8, assetUsd8] =
    coin === currency ? [1n, 1n] : await Promise.all([usd8Of(deps, coin), usd8Of(deps, currency)]);
  if (coinUsd8 === undefined || assetUsd8 === undefined)
    return waits(
      'no_price',
      `no price of ${coinUsd8 === undefined ? coin : currency} of the last hour is known, so nobody can say whether the fee is worth it: see that the sources of prices answer ("doctor")`,
      MINUTE_MS / 2,
    );
  const cost: Priced = { units: costUnits, decimals: assetOf(network, coin).decimals, usd8: coinUsd8 };
  const moved: Priced = {
    units: grossUnits,
    decimals: assetOf(network, currency).decimals,
    usd8: assetUsd8,
  };
  if (!costsTooMuch(cost, moved, maxFeeBasisPoints)) return undefined;
  return waits(
    'fee_too_high',
    `it would cost up to ${formatUnits(costUnits, cost.decimals)} ${coin}, which is ${percentOf(cost, moved)} of it; SETTLE_MAX_FEE_PERCENT allows ${maxFeeBasisPoints / 100n}.${(maxFeeBasisPoints % 100n).toString().padStart(2, '0')} %: it waits for a lower price or for more deposits`,
    SLOW_MS,
  );
}

async function usd8Of(deps: Assessing, currency: Currency): Promise<bigint | undefined> {
  const price = await currentPrice(deps, currency);
  if (price === undefined || price.usd8 <= 0n) return undefined;
  return price.stale && deps.now().getTime() - price.at.getTime() > PRICE_AGE_MS ? undefined : price.usd8;
}
