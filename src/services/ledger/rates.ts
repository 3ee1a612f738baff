import { firstRow, sql } from '../../db/sql.ts';
import { CURRENCIES, type Currency, NATIVE_CURRENCY, NETWORKS } from '../../domain/assets.ts';
import { RATE_DECIMALS } from '../../domain/money.ts';
import type { Deps } from '../deps.ts';
import type { Scope } from '../scope.ts';

/** USD of one coin by currency, with 8 decimals. A currency without a known price is not in it. */
export type Rates = ReadonlyMap<Currency, bigint>;

/** A balance does not wait for a slow price feed: an older rate is nearly as good, a late response is not. */
const PRICE_WAIT_MS = 300;
const ONE_USD: bigint = 10n ** BigInt(RATE_DECIMALS);

/**
 * The rates at which balances are valued: the present price. Without one, a USDT is
 * a dollar, and a coin that the merchant has is worth what it was in the merchant's
 * newest deposit that has a rate. Never throws when a price source does not answer.
 */
export async function valuationRates(deps: Deps, scope: Scope, owned: ReadonlySet<Currency>): Promise<Rates> {
  // Written by hand: AbortSignal.timeout costs several times as much, and this is asked all day.
  const wait = new AbortController();
  const timer = setTimeout(() => wait.abort(new Error('no price in time')), PRICE_WAIT_MS);
  const { signal } = wait;
  const found = await Promise.all(
    CURRENCIES.map(async (currency) => {
      const price = await deps.prices.price(currency, signal).catch(() => undefined);
      if (price) return [currency, price.usd8] as const;
      if (currency === 'USDT') return [currency, ONE_USD] as const;
      const frozen = owned.has(currency) ? await lastFrozenRate(deps, scope, currency) : undefined;
      return frozen === undefined ? undefined : ([currency, frozen] as const);
    }),
  ).finally(() => clearTimeout(timer));
  return new Map(found.filter((rate) => rate !== undefined));
}

async function lastFrozenRate(
  deps: Deps,
  { merchantId, mode }: Scope,
  currency: Currency,
): Promise<bigint | undefined> {
  // The index begins with the network, and a coin is on one network alone.
  const network = NETWORKS.find((one) => NATIVE_CURRENCY[one] === currency) ?? null;
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ rate: string }>`select rate_units::text as rate from deposits
     where merchant_id = ${merchantId} and mode = ${mode} and network = ${network}
       and currency = ${currency} and rate_units is not null
     order by created_at desc, id desc limit 1`,
  );
  return row ? BigInt(row.rate) : undefined;
}
