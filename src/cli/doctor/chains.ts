import { bad, type Finding, good } from '../../base/finding.ts';
import type { Logger } from '../../base/log.ts';
import type { CallContract, Chain } from '../../chains/chain.ts';
import { CHAINS, openChains, PRICE_CHAIN, WATCH_VARIABLES } from '../../chains/index.ts';
import { createPriceSource } from '../../chains/prices/source.ts';
import type { Config } from '../../config/index.ts';
import { CURRENCIES } from '../../domain/assets.ts';
import { formatUnits, RATE_DECIMALS } from '../../domain/money.ts';

const WITHIN_MS = 12_000;

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
      ...(open ? await open.describe({ mustMove: config.production }) : [checkUnwatched(chain, config)]),
    );
  }
  if (opened.size === 0) findings.push(noneWatched());
  return [...findings, await checkPrices(config, opened.get(PRICE_CHAIN.network)?.callContract)];
}

function checkUnwatched({ network, name, watchedBy }: Chain, config: Config): Finding {
  if (!config.chains[network].enabled)
    return good(network, `off: ${watchedBy} is not set; addresses are made but not watched`);
  return bad(
    network,
    `${watchedBy} is set, but this version does not read ${name}`,
    'Unset it; nothing is lost when a later version reads it',
  );
}

function noneWatched(): Finding {
  return bad(
    'payments',
    'no chain is watched: live payment links offer no way to pay, and live deposits are not seen until one is',
    `Set ${WATCH_VARIABLES} and restart every role`,
  );
}

async function checkPrices(config: Config, callContract: CallContract | undefined): Promise<Finding> {
  const { source, maxAgeMs } = config.prices;
  const { network, watchedBy } = PRICE_CHAIN;
  if (source.kind === 'chainlink' && !callContract)
    return good('prices', `chainlink, which reads ${network}, and ${network} is off`);
  const prices = createPriceSource(source, { callContract, now: () => new Date(), maxAgeMs });
  const signal = AbortSignal.timeout(WITHIN_MS);
  const found = await Promise.all(
    CURRENCIES.map(async (currency) => ({ currency, price: await prices.price(currency, signal) })),
  );
  const detail = found.map(
    ({ currency, price }) =>
      `${currency} ${price ? formatUnits(price.usd8, RATE_DECIMALS) : 'unknown'}${price?.stale ? ' (old)' : ''}`,
  );
  const unknown = found.filter(({ price }) => price === undefined);
  if (unknown.length === 0) return good('prices', `${source.kind}: ${detail.join(', ')}`);
  const action =
    source.kind === 'fixed'
      ? 'Name them in PRICE_SOURCE'
      : `Check ${watchedBy}, or name feeds of this chain in PRICE_FEEDS`;
  return bad('prices', `${source.kind}: ${detail.join(', ')}`, action);
}
