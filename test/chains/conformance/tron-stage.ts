import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { hasty, INFOS, lag, otherChain } from '../../../dev/tron/faults.ts';
import type { TronEndpoint, TronFault } from '../../../dev/tron/http/endpoint.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { parseTronJson } from '../../../src/chains/tron/block/exact-json.ts';
import { createBudget } from '../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../src/chains/tron/protocol.ts';
import { createTronReader } from '../../../src/chains/tron/reader.ts';
import type { ChainStage, EndpointFault, StageEndpoint } from './stage.ts';

const FINAL_DISTANCE = 4;

const FAULTS: Readonly<Record<Exclude<EndpointFault, 'calls its newest block final'>, TronFault>> = {
  'is away': () => 'reset',
  hangs: () => 'hang',
  'leaves out what the block brought': INFOS.withoutLogs,
  'serves another chain': otherChain,
};

/** Tron on its double, behind two addresses of the node, each of which fails on its own. */
export async function tronStage(): Promise<ChainStage> {
  const node = await startTronNode({ solidDistance: FINAL_DISTANCE });
  const foreign = await node.deploy(testContracts().Token, [6]);
  const [payer, penniless] = node.accounts;
  if (!payer || !penniless) throw new Error('the node has no accounts');
  await node.usdt.call('mint', [payer.address, 10n ** 30n]);
  await node.mine();
  const usdtContract = TRON_ADDRESSES.format(node.usdt.key);
  const urls = new Map<StageEndpoint, string>();
  const opened = await Promise.all([1, 2].map(() => node.endpoint()));
  const endpoints = opened.map((one) => {
    const endpoint = endpointOf(one, node);
    urls.set(endpoint, one.url);
    return endpoint;
  });
  return {
    network: 'tron',
    payer: payer.address,
    poor: penniless.address,
    endpoints,
    unknownHash: '77'.repeat(32),
    finalDistance: FINAL_DISTANCE,
    tellsBalances: false,
    readerOf: (some, timeoutMs = 20_000) => {
      const genesis = createGenesis({ usdtContract, known: node.genesisId });
      const pool = createTronPool({
        name: 'tron',
        urls: some.map((one) => urls.get(one) ?? ''),
        budget: createBudget({ perDay: 10_000_000, perSecond: 10_000 }),
        genesis,
        parse: parseTronJson,
        timeoutMs,
      });
      return createTronReader({
        pool,
        genesis,
        usdtContract,
        readsAllAgain: true,
        spareRequests: () => 1_000,
      });
    },
    mine: node.mine,
    pay: ({ to, currency, units }) => node.pay({ to, currency: currency === 'USDT' ? 'USDT' : 'TRX', units }),
    // Whoever has no token cannot send any.
    payInVain: ({ to, units }) => node.usdt.call('transfer', [to, units], { from: penniless }),
    payForeign: ({ to, units }) => foreign.call('mint', [to, units]),
    feeOf: async (txHash) => {
      const info = await node.ask('wallet/gettransactioninfobyid', { value: txHash });
      return BigInt((info as { fee?: number }).fee ?? 0);
    },
    replace: (blocks) => node.replace(blocks),
    stop: () => node.stop(),
  };
}

function endpointOf(endpoint: TronEndpoint, node: TronNode): StageEndpoint {
  const set = (fault: TronFault | undefined): void => {
    endpoint.fault = fault;
  };
  return {
    host: new URL(endpoint.url).host,
    fail: (fault) => set(fault === 'calls its newest block final' ? hasty(node) : FAULTS[fault]),
    lagAt: (height) => set(lag(node, height)),
    heal: () => set(undefined),
  };
}
