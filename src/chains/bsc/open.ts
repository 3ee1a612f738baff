import type { ChainIo, OpenChain } from '../chain.ts';
import { createRpcPool } from '../rpc/json-rpc.ts';
import { callContractOver } from './contract-call.ts';
import { hasCodeOver } from './contract-code.ts';
import { describeBsc } from './describe.ts';
import { lookUpOver } from './look-up.ts';
import { createBscReader } from './reader.ts';
import type { BscSettings } from './settings.ts';
import { createBscSpending } from './spending/spending.ts';

/**
 * BNB Chain over its configured endpoints; see {@link
 * OpenChain}. Throws a sentence for an unusable list of them.
 */
export function openBsc(settings: BscSettings, io: ChainIo): OpenChain {
  const { urls, chainId, rpcRequestsPerSecond: requestsPerSecond, usdtContract } = settings;
  const { onEndpoint: report, patience } = io;
  const rpc = createRpcPool({ name: 'bsc', urls, chainId, requestsPerSecond, patience, report });
  const reader = createBscReader({ rpc, usdtContract, report: io.onRead });
  return {
    reader,
    endpoints: () => rpc.status(),
    describe: (input) => describeBsc({ settings, rpc, reader }, input),
    callContract: callContractOver(rpc),
    hasCode: hasCodeOver(rpc),
    lookUp: lookUpOver(rpc),
    spending: createBscSpending(rpc, settings),
  };
}
