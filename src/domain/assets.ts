/** The two networks of the product, by the identifiers that merchants see. */
export const NETWORKS = ['bsc', 'tron'] as const;
export type Network = (typeof NETWORKS)[number];

export const CURRENCIES = ['BNB', 'TRX', 'USDT'] as const;
export type Currency = (typeof CURRENCIES)[number];

export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];

/** One value for each mode. */
export function byMode<T>(of: (mode: Mode) => T): Record<Mode, T> {
  return { live: of('live'), test: of('test') };
}

/** The asset classes that one address can receive: the chain's own coin or the configured USDT contract. */
export type AssetKind = 'native' | 'token';

export type Asset = {
  readonly currency: Currency;
  readonly network: Network;
  readonly kind: AssetKind;
  readonly decimals: number;
};

/** Every asset that can be credited. Anything else is recorded for the operator and never credited. */
export const ASSETS: readonly Asset[] = [
  { currency: 'BNB', network: 'bsc', kind: 'native', decimals: 18 },
  { currency: 'USDT', network: 'bsc', kind: 'token', decimals: 18 },
  { currency: 'TRX', network: 'tron', kind: 'native', decimals: 6 },
  { currency: 'USDT', network: 'tron', kind: 'token', decimals: 6 },
];

export const NATIVE_CURRENCY: Readonly<Record<Network, Currency>> = { bsc: 'BNB', tron: 'TRX' };

/** What a simulated deposit brings where nobody says how much: some ten dollars, in coins. */
export const SIMULATED_COINS: Readonly<Record<Currency, string>> = { USDT: '10', BNB: '0.02', TRX: '50' };

/** The asset for a network and currency, or undefined where the pair does not exist (TRX on bsc, say). */
export function findAsset(network: string, currency: string): Asset | undefined {
  return ASSETS.find((asset) => asset.network === network && asset.currency === currency);
}

/**
 * The same as {@link findAsset} for pairs that come from our own tables.
 * Throws on an unknown pair: that is a defect.
 */
export function assetOf(network: string, currency: string): Asset {
  const asset = findAsset(network, currency);
  if (!asset) throw new Error(`no asset ${currency} on ${network}`);
  return asset;
}
