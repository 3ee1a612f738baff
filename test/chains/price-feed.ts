// A price feed on a real chain, read through an endpoint that can misbehave, by a clock that a test moves.
import { type Contract, startTestChain, TEST_CHAIN_ID, type TestChain } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { BSC_PRICES } from '../../src/chains/bsc/chain.ts';
import { callContractOver } from '../../src/chains/bsc/contract-call.ts';
import { createPriceSource, type PriceDeps } from '../../src/chains/prices/source.ts';
import type { Price, PriceSource } from '../../src/chains/reader.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';

const { signal } = new AbortController();

/** The chain, its endpoint, and the feed of the test that runs. */
export type PriceFeed = {
  readonly chain: TestChain;
  readonly proxy: FaultProxy;
  feed: Contract;
  nowMs: number;
  /** A new feed, an endpoint without a fault, and this time. */
  begin(nowMs: number): Promise<void>;
  /** The feed, for every currency that has one. */
  feeds(): Record<string, string>;
  /** What reads these feeds and knows no price yet. */
  source(deps: Partial<PriceDeps>, feeds: Record<string, string>): PriceSource;
  /** Mines what the feed says from now on, and since when. */
  answer(usd8: bigint, ageMs: number): Promise<void>;
  stop(): Promise<void>;
};

/** Starts the chain and its endpoint; each test begins with {@link PriceFeed.begin}. */
export async function startPriceFeed(): Promise<PriceFeed> {
  const chain = await startTestChain();
  const proxy = await startFaultProxy(chain.url);
  const the: PriceFeed = {
    chain,
    proxy,
    feed: await chain.deploy(testContracts().Feed),
    nowMs: Date.now(),
    begin: async (nowMs) => {
      the.feed = await chain.deploy(testContracts().Feed);
      the.nowMs = nowMs;
      proxy.fault = undefined;
    },
    feeds: () => ({ BNB: the.feed.address, TRX: the.feed.address, USDT: the.feed.address }),
    source: (deps, feeds) => {
      const rpc = createRpcPool({ name: 'bsc', urls: [proxy.url], chainId: TEST_CHAIN_ID, timeoutMs: 300 });
      const chain = { prices: BSC_PRICES, callContract: callContractOver(rpc) };
      const now = () => new Date(the.nowMs);
      return createPriceSource({ kind: 'chainlink', feeds }, { chain, now, ...deps });
    },
    answer: async (usd8, ageMs) => {
      await the.feed.call('set', [usd8, BigInt(Math.floor((the.nowMs - ageMs) / 1000))]);
      await chain.mine();
    },
    stop: async () => {
      await proxy.stop();
      await chain.stop();
    },
  };
  return the;
}

/** Asks until the price that was looked up behind the caller's back is the one that is expected. */
export async function refreshed(
  prices: PriceSource,
  is: (price: Price | undefined) => boolean,
): Promise<Price | undefined> {
  return await eventually('the refreshed price', async () => {
    const price = await prices.price('BNB', signal);
    return is(price) && { price };
  }).then(({ price }) => price);
}
