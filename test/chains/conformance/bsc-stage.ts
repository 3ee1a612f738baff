import { startTestChain, TEST_CHAIN_ID } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../../../dev/support/fault-proxy.ts';
import { changed } from '../../../dev/support/faults.ts';
import { hexAddress, keyOfHex } from '../../../src/chains/address-key.ts';
import { createBscReader } from '../../../src/chains/bsc/reader.ts';
import { createRpcPool } from '../../../src/chains/rpc/json-rpc.ts';
import type { ChainStage, EndpointFault, StageEndpoint } from './stage.ts';

type Ask = (method: string, params: unknown[]) => Promise<unknown>;
const hex = (number: number): string => `0x${number.toString(16)}`;

/** A node that has nothing above this height. */
const behind =
  (head: number, ask: Ask): Fault =>
  async (call) => {
    if (call.method === 'eth_getTransactionReceipt')
      return { json: { jsonrpc: '2.0', id: call.id, result: null } };
    if (call.method !== 'eth_getBlockByNumber') return undefined;
    const tag = String(call.params[0]);
    const number = tag === 'latest' ? head : tag === 'finalized' ? head - 2 : Number.parseInt(tag, 16);
    const result = number > head ? null : await ask('eth_getBlockByNumber', [hex(number), call.params[1]]);
    return { json: { jsonrpc: '2.0', id: call.id, result } };
  };

const FAULTS: Readonly<Record<Exclude<EndpointFault, 'calls its newest block final'>, Fault>> = {
  'is away': () => 'reset',
  hangs: () => 'hang',
  'leaves out what the block brought': changed('eth_getBlockReceipts', (receipts: object[]) =>
    receipts.map((receipt) => ({ ...receipt, logs: [] })),
  ),
  'serves another chain': changed('eth_chainId', () => '0x61'),
};

/** A node to which every block is final at once. */
const hasty =
  (ask: Ask): Fault =>
  async (call) =>
    call.params[0] === 'finalized'
      ? {
          json: { jsonrpc: '2.0', id: call.id, result: await ask('eth_getBlockByNumber', ['latest', false]) },
        }
      : undefined;

/** BNB Chain on anvil behind two proxies, each of which fails on its own. */
export async function bscStage(): Promise<ChainStage> {
  const chain = await startTestChain({ slotsInAnEpoch: 1 });
  const foreign = await chain.deploy(testContracts().Token, [18]);
  const proxies = await Promise.all([1, 2].map(() => startFaultProxy(chain.url)));
  const urls = new Map<StageEndpoint, string>();
  const endpoints = proxies.map((proxy) => {
    const endpoint = endpointOf(proxy, chain.anvil.rpc);
    urls.set(endpoint, proxy.url);
    return endpoint;
  });
  return {
    network: 'bsc',
    payer: keyOfHex(chain.accounts[0] ?? '', 2),
    poor: keyOfHex(chain.accounts[1] ?? '', 2),
    endpoints,
    unknownHash: `0x${'77'.repeat(32)}`,
    finalDistance: 2,
    tellsBalances: true,
    readerOf: (some, timeoutMs = 20_000) => {
      const rpc = createRpcPool({
        name: 'bsc',
        urls: some.map((one) => urls.get(one) ?? ''),
        chainId: TEST_CHAIN_ID,
        timeoutMs,
      });
      return createBscReader({ rpc, usdtContract: chain.usdt.address });
    },
    mine: chain.mine,
    pay: async ({ to, currency, units }) =>
      currency === 'USDT'
        ? await chain.usdt.call('transfer', [hexAddress(to), units])
        : await chain.send({ to: hexAddress(to), valueUnits: units }),
    // Whoever has no token cannot send any.
    payInVain: async ({ to, units }) =>
      await chain.usdt.call('transfer', [hexAddress(to), units], { from: chain.accounts[1] ?? '' }),
    payForeign: async ({ to, units }) => await foreign.call('mint', [hexAddress(to), units]),
    feeOf: async (txHash) => {
      const receipt = await chain.anvil.rpc('eth_getTransactionReceipt', [txHash]);
      const { gasUsed, effectiveGasPrice } = receipt as Record<string, string>;
      return BigInt(gasUsed ?? '') * BigInt(effectiveGasPrice ?? '');
    },
    replace: chain.reorg,
    stop: async () => {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      await chain.stop();
    },
  };
}

function endpointOf(proxy: FaultProxy, ask: Ask): StageEndpoint {
  const set = (fault: Fault | undefined): void => {
    proxy.fault = fault;
  };
  return {
    host: new URL(proxy.url).host,
    fail: (fault) => set(fault === 'calls its newest block final' ? hasty(ask) : FAULTS[fault]),
    lagAt: (height) => set(behind(height, ask)),
    heal: () => set(undefined),
  };
}
