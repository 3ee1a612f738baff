// Blocks of a real node of BNB Chain, read over endpoints that a test makes err. A describe declares it once.
import {
  type Contract,
  startTestChain,
  TEST_CHAIN_ID,
  type TestChain,
  USDT_UNIT,
} from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { type BscReaderOptions, createBscReader } from '../../src/chains/bsc/reader.ts';
import type { ChainReader, ScannedBlock } from '../../src/chains/reader.ts';
import { createRpcPool, type RpcPool, type RpcPoolOptions } from '../../src/chains/rpc/json-rpc.ts';

/** Never stops anything. */
export const { signal } = new AbortController();
/** Addresses: two customers, and one that nobody watches. */
export const [ALICE, BOB, STRANGER] = ['a1', 'b0', '5e'].map((byte) => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string,
];

export type BscScene = {
  chain: TestChain;
  /** Ways to the node, each well again before each test. */
  proxies: FaultProxy[];
  /** Pays on what it is told to; it has 100 coins and 100 tokens. */
  payer: Contract;
  /** Alice and Bob. */
  readonly watched: AddressSet;
  /** What pools and readers report; empty before each test. */
  readonly reports: string[];
  poolOf(proxies?: readonly FaultProxy[], options?: Partial<RpcPoolOptions>): RpcPool;
  readerOf(rpc?: RpcPool | readonly FaultProxy[], options?: Partial<BscReaderOptions>): ChainReader;
  /** Reads a block, else what waits as the next one. Fails where it is not there. */
  scan(reader: ChainReader, number?: number): Promise<ScannedBlock>;
};

/** Declares the node, so many endpoints before it, and what a test needs of both. */
export function bscScene({ endpoints = 1, slotsInAnEpoch = 1 } = {}): BscScene {
  const watched = new AddressSet();
  for (const address of [ALICE, BOB]) watched.add(address);
  const reports: string[] = [];
  const report = (message: string): void => void reports.push(message);
  const poolOf: BscScene['poolOf'] = (proxies = the.proxies ?? [], options = {}) => {
    const urls = proxies.map(({ url }) => url);
    return createRpcPool({ name: 'bsc', urls, chainId: TEST_CHAIN_ID, report, ...options });
  };
  const the: Pick<BscScene, 'watched' | 'reports' | 'poolOf' | 'readerOf' | 'scan'> & Partial<BscScene> = {
    watched,
    reports,
    poolOf,
    readerOf: (over = the.proxies, options = {}) => {
      const rpc = over && 'run' in over ? over : poolOf(over ?? []);
      return createBscReader({ rpc, usdtContract: the.chain?.usdt.address ?? '', report, ...options });
    },
    scan: async (reader, number) => {
      const block = await reader.scan(number ?? (await the.chain?.mine()) ?? 0, watched, signal);
      if (!block) throw new Error('the block is not there');
      return block;
    },
  };
  before(async () => {
    const chain = await startTestChain({ slotsInAnEpoch });
    the.chain = chain;
    the.proxies = await Promise.all(Array.from({ length: endpoints }, () => startFaultProxy(chain.url)));
    the.payer = await chain.deploy(testContracts().Payer);
    await chain.send({ to: the.payer.address, valueUnits: 100n * USDT_UNIT });
    await chain.usdt.call('transfer', [the.payer.address, 100n * USDT_UNIT]);
    await chain.mine();
  });
  beforeEach(() => {
    for (const proxy of the.proxies ?? []) {
      Object.assign(proxy, { fault: undefined, batchFault: undefined });
      for (const asked of [proxy.calls, proxy.requests]) asked.length = 0;
    }
    reports.length = 0;
  });
  after(async () => {
    await Promise.all((the.proxies ?? []).map((proxy) => proxy.stop()));
    await the.chain?.stop();
  });
  return the as BscScene;
}
