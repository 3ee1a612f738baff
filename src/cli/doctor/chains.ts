import { bad, type Finding, good } from '../../base/finding.ts';
import type { Logger } from '../../base/log.ts';
import type { Chain } from '../../chains/chain.ts';
import { CHAINS, openChains, PRICE_CHAINS, priceChain, WATCH_VARIABLES } from '../../chains/index.ts';
import { openedPriceChain } from '../../chains/prices/open.ts';
import { createPriceSource, feedsOf, type PriceChain } from '../../chains/prices/source.ts';
import type { Price, PriceSource } from '../../chains/reader.ts';
import type { Config } from '../../config/index.ts';
import { CURRENCIES, type Currency } from '../../domain/assets.ts';
import { formatUnits, RATE_DECIMALS } from '../../domain/money.ts';

const WITHIN_MS = 12_000;
const PRICE_CHAIN_NAMES = PRICE_CHAINS.map(({ name }) => name).join(' or ');

/**
 * Every chain, and the prices, which are read from one. A chain without endpoints is off,
 * which is a choice; without any chain nobody can pay.
 */
export async function checkChains(config: Config, log: Logger): Promise<Finding[]> {
  const opened = await openChains(config.chains, { onEndpoint: (message) => log.info({}, message) });
  const findings: Finding[] = [];
  for (const chain of CHAINS) {
    const open = opened.get(chain.network);
    findings.push(
      ...(open ? await open.describe({ chain, mustMove: config.production }) : [unwatched(chain)]),
    );
  }
  if (opened.size === 0) findings.push(noneWatched());
  return [...findings, await checkPrices(config, openedPriceChain(config.chains, opened))];
}

function unwatched({ network, watchedBy }: Chain): Finding {
  return good(network, `off: ${watchedBy} is not set; addresses are made but not watched`);
}

function noneWatched(): Finding {
  return bad(
    'payments',
    'no chain is watched: live payment links offer no way to pay, and live deposits are not seen until one is',
    `Set ${WATCH_VARIABLES} and restart every role`,
  );
}

async function checkPrices(config: Config, chain: PriceChain | undefined): Promise<Finding> {
  const { source, maxAgeMs } = config.prices;
  const readOn = priceChain(config.chains);
  if (source.kind === 'chainlink' && (!chain || !readOn))
    return good('prices', `chainlink, which reads ${PRICE_CHAIN_NAMES}: none of them is watched`);
  const prices = createPriceSource(source, { chain, now: () => new Date(), maxAgeMs });
  const coins =
    source.kind === 'chainlink' && chain ? [...feedsOf(chain.prices, source.feeds).keys()] : CURRENCIES;
  const signal = AbortSignal.timeout(WITHIN_MS);
  const found = await Promise.all(
    coins.map(async (currency) => ({ currency, price: await priceInTime(prices, currency, signal) })),
  );
  const told = found.map(
    ({ currency, price }) =>
      `${currency} ${price ? formatUnits(price.usd8, RATE_DECIMALS) : 'unknown'}${price?.stale ? ' (old)' : ''}`,
  );
  const without = CURRENCIES.filter((currency) => !coins.includes(currency)).map(
    (currency) => `${currency} has no feed there`,
  );
  const place = source.kind === 'chainlink' && readOn ? `chainlink on ${readOn.name}` : source.kind;
  const detail = `${place}: ${[...told, ...without].join(', ')}`;
  if (found.every(({ price }) => price !== undefined)) return good('prices', detail);
  const action =
    source.kind === 'fixed'
      ? 'Name them in PRICE_SOURCE'
      : `Check ${readOn?.watchedBy}, or name feeds of this chain in PRICE_FEEDS`;
  return bad('prices', detail, action);
}

/** Undefined where none is known when the time is over. */
async function priceInTime(
  prices: PriceSource,
  currency: Currency,
  signal: AbortSignal,
): Promise<Price | undefined> {
  return await prices.price(currency, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return undefined;
  });
}
