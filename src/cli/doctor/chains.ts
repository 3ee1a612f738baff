import type { Logger } from '../../base/log.ts';
import { createBscReader } from '../../chains/bsc/reader.ts';
import { createPriceSource } from '../../chains/prices/source.ts';
import type { ChainReader } from '../../chains/reader.ts';
import { askAbilities, lacksOf } from '../../chains/rpc/endpoint-abilities.ts';
import { ChainMismatch } from '../../chains/rpc/errors.ts';
import { probeHeadHints } from '../../chains/rpc/head-hints.ts';
import { createRpcPool, type RpcPool } from '../../chains/rpc/pool.ts';
import type { Config } from '../../config/index.ts';
import { CURRENCIES } from '../../domain/assets.ts';
import { formatUnits, RATE_DECIMALS } from '../../domain/money.ts';
import { reasonOf } from '../ground.ts';
import { bad, type Check, good } from './check.ts';

const WITHIN_MS = 12_000;
const MAX_BLOCK_AGE_MS = 5 * 60_000;

const NONE_WATCHED = bad(
  'payments',
  'no chain is watched: live payment links offer no way to pay, and live deposits are not seen until one is',
  'Set BSC_RPC_URLS and restart every role',
);

/** Every chain, and the prices, which are read from one. A chain without endpoints is off, which is a choice; without any nobody can pay. */
export async function checkChains(config: Config, log: Logger): Promise<Check[]> {
  const rpc = config.bsc.enabled
    ? createRpcPool({
        ...{ name: 'bsc', urls: config.bsc.rpcUrls, chainId: config.bsc.chainId, requestsPerSecond: config.bsc.rpcRequestsPerSecond },
        report: (message) => log.info({}, message),
      })
    : undefined;
  const bsc = rpc ? await checkBsc(config, rpc) : good('bsc', 'off: BSC_RPC_URLS is not set; addresses are made but not watched');
  const endpoints = rpc && bsc.ok ? await describeEndpoints(config, rpc) : [];
  return [bsc, ...endpoints, checkTron(config), ...(rpc ? [] : [NONE_WATCHED]), await checkPrices(config, rpc)];
}

/** What each endpoint offers: how BNB that contracts pass on is found, what it lacks, and how fast it was asked at last. */
async function describeEndpoints({ bsc }: Config, rpc: RpcPool): Promise<Check[]> {
  const [ways, lacks] = ['internal_transfers', 'endpoints_bsc'];
  const again = 'Run it again; until then the reconciliation finds them';
  const signal = AbortSignal.timeout(WITHIN_MS);
  const probing = probeHeadHints({ urls: bsc.headUrls, chainId: bsc.chainId }, signal);
  let answers: Awaited<ReturnType<typeof askAbilities>>;
  try {
    answers = await askAbilities(rpc, signal);
  } catch (error) {
    return [bad(ways, `no endpoint says whether it shows them: ${reasonOf(error)}`, again)];
  }
  const known = answers.filter((answer) => answer.problem === undefined);
  const wayOf = (method: string | null) => (method ? `by traces (${method})` : 'by reconciliation, every hour');
  const described = answers.map((answer) => {
    if (answer.problem !== undefined) return `${answer.host} does not say (${answer.problem})`;
    const missing = lacksOf(answer.value);
    return `${answer.host} ${missing.length > 0 ? `lacks ${missing.join(', ')}` : 'lacks nothing'}`;
  });
  const paces = rpc.status().map(({ host, requestsPerSecond }) => `${host} ${Math.round(requestsPerSecond)}/s`);
  const heads = await probing;
  const announced = heads.map(({ host, problem }) =>
    problem === undefined ? `${host} announces blocks` : `${host} announces none (${problem})`,
  );
  const detail = [...described, ...announced, `asked at most ${paces.join(', ')}`].join('; ');
  const isFinalityKnown = known.some((answer) => answer.value.finalized);
  return [
    known.length > 0
      ? good(ways, known.map(({ host, value }) => `${wayOf(value.traces)} at ${host}`).join('; '))
      : bad(ways, `no endpoint says whether it shows them: ${described.join('; ')}`, again),
    judged(lacks, detail, [
      [isFinalityKnown, 'Add an endpoint that tells which block is final to BSC_RPC_URLS'],
      [
        heads.every(({ problem }) => problem === undefined),
        'Correct the ws or wss address in BSC_RPC_URLS, or take it out: blocks are found without it',
      ],
    ]),
  ];
}

/** What is wrong first, and what to do about it. */
function judged(name: string, detail: string, wanted: readonly (readonly [boolean, string])[]): Check {
  const [missing] = wanted.filter(([isMet]) => !isMet);
  return missing ? bad(name, detail, missing[1]) : good(name, detail);
}

async function checkBsc(config: Config, rpc: RpcPool): Promise<Check> {
  const signal = AbortSignal.timeout(WITHIN_MS);
  const reader = createBscReader({ rpc, usdtContract: config.bsc.usdtContract });
  try {
    await reader.checkIdentity(signal);
    return await describeHead(config, rpc, reader, signal);
  } catch (error) {
    if (error instanceof ChainMismatch)
      return bad('bsc', reasonOf(error), 'Correct BSC_RPC_URLS, BSC_CHAIN_ID or BSC_USDT_CONTRACT: the gateway refuses to run like this');
    return bad(
      'bsc',
      signal.aborted ? 'no endpoint answered in time' : reasonOf(error),
      'Check BSC_RPC_URLS; deposits wait until one answers',
    );
  }
}

async function describeHead(config: Config, rpc: RpcPool, reader: ChainReader, signal: AbortSignal): Promise<Check> {
  const [head, finalized] = await Promise.all([reader.head(signal), reader.finalized(signal)]);
  const away = rpc.status().filter((endpoint) => endpoint.problem !== null);
  const detail = `chain ${config.bsc.chainId}, USDT has 18 decimals, head ${head.number}, finalized ${finalized.number}`;
  if (away.length > 0)
    return bad(
      'bsc',
      `${detail}; not in use: ${away.map(({ host, problem }) => `${host} (${problem})`).join(', ')}`,
      'Repair or remove these endpoints from BSC_RPC_URLS',
    );
  const ageMs = Date.now() - head.timestampMs;
  // A chain of one's own stands still when nothing happens on it.
  if (config.production && ageMs > MAX_BLOCK_AGE_MS)
    return bad(
      'bsc',
      `${detail}; the newest block is ${Math.round(ageMs / 60_000)} min old`,
      'Use endpoints that are in sync, or set the clock of this machine',
    );
  return good('bsc', detail);
}

function checkTron(config: Config): Check {
  if (!config.tron.enabled) return good('tron', 'off: TRON_API_URLS is not set; addresses are made but not watched');
  return bad(
    'tron',
    'TRON_API_URLS is set, but this version does not read Tron',
    'Unset it; nothing is lost when a later version reads it',
  );
}

async function checkPrices(config: Config, rpc: RpcPool | undefined): Promise<Check> {
  const { source, maxAgeMs } = config.prices;
  if (source.kind === 'chainlink' && !rpc) return good('prices', 'chainlink, which reads bsc, and bsc is off');
  const prices = createPriceSource(source, { rpc, now: () => new Date(), maxAgeMs });
  const signal = AbortSignal.timeout(WITHIN_MS);
  const found = await Promise.all(CURRENCIES.map(async (currency) => ({ currency, price: await prices.price(currency, signal) })));
  const detail = found.map(
    ({ currency, price }) => `${currency} ${price ? formatUnits(price.usd8, RATE_DECIMALS) : 'unknown'}${price?.stale ? ' (old)' : ''}`,
  );
  const unknown = found.filter(({ price }) => price === undefined);
  if (unknown.length === 0) return good('prices', `${source.kind}: ${detail.join(', ')}`);
  const action = source.kind === 'fixed' ? 'Name them in PRICE_SOURCE' : 'Check BSC_RPC_URLS, or name feeds of this chain in PRICE_FEEDS';
  return bad('prices', `${source.kind}: ${detail.join(', ')}`, action);
}
