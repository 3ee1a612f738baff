import type { ChainIo, OpenChain } from '../chain.ts';
import { parseTronJson } from './block/exact-json.ts';
import { createBudget } from './budget.ts';
import { callTronContractOver } from './contract-call.ts';
import { hasCodeOnTron } from './contract-code.ts';
import { describeTron } from './describe.ts';
import { createGenesis } from './genesis.ts';
import { lookUpOnTron } from './look-up.ts';
import {
  finalPaceOf,
  READS_ALL_REQUESTS,
  readWithin,
  reservedOf,
  searchBlocksOf,
  shortLookOf,
} from './pace.ts';
import { createTronPool } from './protocol.ts';
import { createTronReader } from './reader.ts';
import type { TronSettings } from './settings.ts';
import { createTronSpending } from './spending/spending.ts';

/**
 * Tron over its configured endpoints; see {@link OpenChain}. Throws a sentence for an unusable list of them.
 */
export function openTron(settings: TronSettings, io: ChainIo): OpenChain {
  const { apiUrls: urls, solidityUrls, apiKey, usdtContract, requestsPerSecond, requestsPerDay } = settings;
  const budget = createBudget({ perDay: requestsPerDay, perSecond: requestsPerSecond });
  const genesis = createGenesis({ usdtContract });
  const pool = createTronPool({
    name: 'tron',
    urls,
    solidityUrls,
    apiKey,
    budget,
    genesis,
    parse: parseTronJson,
    patience: io.patience,
    report: io.onEndpoint,
  });
  const readsAllAgain = requestsPerDay >= READS_ALL_REQUESTS;
  const { allows, problem } = readWithin(requestsPerDay);
  if (!readsAllAgain)
    io.onRead?.(
      `tron: TRON_REQUESTS_PER_DAY is ${requestsPerDay}: ${problem ? `${problem}; ` : ''}${allows}`,
    );
  const reserved = reservedOf(requestsPerDay);
  const reader = createTronReader({
    pool,
    genesis,
    usdtContract,
    readsAllAgain,
    spareRequests: () => budget.spare(reserved),
    searchBlocks: searchBlocksOf(requestsPerDay),
    final: finalPaceOf(requestsPerDay),
    report: io.onRead,
  });
  return {
    reader,
    endpoints: () => pool.status(),
    describe: (input) => describeTron({ settings, pool, reader, budget }, input),
    requests: budget,
    callContract: callTronContractOver(pool),
    spending: createTronSpending({
      pool,
      limits: settings,
      spareRequests: () => budget.spare(reserved),
      shortLookMs: shortLookOf(requestsPerDay, reserved),
    }),
    hasCode: hasCodeOnTron(pool),
    lookUp: lookUpOnTron(pool),
  };
}
