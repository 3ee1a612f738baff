import type { Price } from '../../chains/reader.ts';
import type { Deposit } from '../../db/entities/index.ts';
import { assetOf, CURRENCIES, type Currency } from '../../domain/assets.ts';
import { RATE_DECIMALS, usdCents } from '../../domain/money.ts';
import { fitted } from '../../domain/text.ts';
import type { Deps } from '../deps.ts';

const PRICE_WAIT_MS = 2_000;
const ONE_USD: bigint = 10n ** BigInt(RATE_DECIMALS);

/**
 * The price to freeze on a deposit: the newest known one, at once; only before any price is known
 * does it wait for the first, at most 2 s. USDT falls back to 1 USD; other coins give undefined
 * when no price is known. Never throws: a price must not stop a deposit from being recorded.
 */
export async function currentPrice(deps: Deps, currency: Currency): Promise<Price | undefined> {
  const fallback = (): Price | undefined =>
    currency === 'USDT' ? { usd8: ONE_USD, source: 'fallback:1', at: deps.now(), stale: true } : undefined;
  try {
    return (await deps.prices.price(currency, AbortSignal.timeout(PRICE_WAIT_MS))) ?? fallback();
  } catch (error) {
    deps.log.warn({ err: error, currency }, 'no price could be read');
    return fallback();
  }
}

/**
 * Asks the price source for every price, so that a deposit after a quiet time does not get the price of the
 * one before it. A source whose questions are costly is left alone: its callers wait instead. Never throws.
 */
export async function keepPricesFresh(deps: Deps): Promise<void> {
  if (deps.prices.costly) return;
  await Promise.all(CURRENCIES.map((currency) => currentPrice(deps, currency)));
}

/**
 * Freezes a price on the deposit; one that has a price keeps it. `amount_usd` is rounded half up to cents.
 */
export function freezePrice(deposit: Deposit, price: Price | undefined): void {
  if (!price || deposit.rateUnits != null) return;
  deposit.rateUnits = price.usd8;
  deposit.rateSource = fitted(price.stale ? `${price.source} (stale)` : price.source, 60);
  deposit.rateAt = price.at;
  deposit.amountUsdCents = usdCents(
    deposit.amountUnits,
    assetOf(deposit.network, deposit.currency).decimals,
    price.usd8,
  );
}
