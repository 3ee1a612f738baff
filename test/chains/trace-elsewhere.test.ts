import { expect } from 'chai';
import {
  type Contract,
  startTestChain,
  TEST_CHAIN_ID,
  type TestChain,
  USDT_UNIT,
} from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import { createTracer } from '../../src/chains/bsc/traces/tracer.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { createRpcPool, type RpcPool, type RpcPoolOptions } from '../../src/chains/rpc/json-rpc.ts';
import { isTrace, NO_TRACES, refusesTraces, without } from '../services/watcher/test-watcher.ts';

const { signal } = new AbortController();
const FUND = 10n * USDT_UNIT;
const tracesAt = (proxy: FaultProxy): number => proxy.calls.filter(isTrace).length;

describe('a trace from another endpoint than the block', () => {
  let chain: TestChain;
  let first: FaultProxy;
  let second: FaultProxy;
  let third: FaultProxy;
  let payer: Contract;
  let nowMs = 0;
  const watched = new AddressSet();
  const alice = `0x${'a1'.repeat(20)}`;

  before(async () => {
    chain = await startTestChain({ slotsInAnEpoch: 1 });
    [first, second, third] = (await Promise.all([chain.url, chain.url, chain.url].map(startFaultProxy))) as [
      FaultProxy,
      FaultProxy,
      FaultProxy,
    ];
    payer = await chain.deploy(testContracts().Payer);
    await chain.send({ to: payer.address, valueUnits: FUND });
    watched.add(alice);
    await chain.mine();
  });
  after(async () => {
    await Promise.all([first, second, third].map((proxy) => proxy.stop()));
    await chain.stop();
  });
  beforeEach(() => {
    for (const proxy of [first, second, third]) {
      proxy.fault = undefined;
      proxy.calls.length = 0;
    }
    first.fault = without(...NO_TRACES);
  });

  const poolOf = (proxies: readonly FaultProxy[], options: Partial<RpcPoolOptions> = {}): RpcPool =>
    createRpcPool({
      name: 'bsc',
      urls: proxies.map(({ url }) => url),
      chainId: TEST_CHAIN_ID,
      timeoutMs: 20_000,
      ...options,
    });
  /** A trace has all the time that a busy machine needs, except where it never comes. */
  const readerOf = (rpc: RpcPool, timeoutMs = 10_000): ChainReader =>
    createBscReader({
      rpc,
      usdtContract: chain.usdt.address,
      tracer: createTracer({ timeoutMs, now: () => nowMs }),
    });

  async function paid(): Promise<number> {
    await payer.call('payCoin', [alice, 5n]);
    return await chain.mine();
  }

  it('is asked for when the block is final, and not while it is new', async () => {
    const reader = readerOf(poolOf([first, second]));
    const number = await paid();
    expect((await reader.finalized(signal)).number).to.be.below(number);
    expect((await reader.scan(number, watched, signal))?.untraced).to.not.equal(undefined);
    expect(tracesAt(second)).to.equal(0);
    await chain.mine(5);
    await reader.finalized(signal);
    const block = await reader.scan(number, watched, signal);
    expect(block?.untraced).to.equal(undefined);
    expect(block?.transfers.map(({ to, amountUnits }) => [to, amountUnits])).to.deep.equal([[alice, 5n]]);
  });

  it('is asked for at once by whoever reads single old blocks and never asks for finality', async () => {
    const block = await readerOf(poolOf([first, second])).scan(await paid(), watched, signal);
    expect(block?.transfers).to.have.length(1);
  });

  it('is not asked for where the endpoint of the block shows it itself, nor for a block without transactions', async () => {
    const reader = readerOf(poolOf([first, second]));
    expect((await reader.scan(await chain.mine(), watched, signal))?.untraced).to.equal(undefined);
    first.fault = undefined;
    expect((await readerOf(poolOf([first, second])).scan(await paid(), watched, signal))?.untraced).to.equal(
      undefined,
    );
    expect(tracesAt(second)).to.equal(0);
  });

  for (const [name, fault] of [
    [
      'of another block',
      async (call, forward) => {
        if (call.method !== 'trace_block') return undefined;
        const answer = await forward();
        return {
          json: {
            ...answer,
            result: (answer.result as object[]).map((trace) => ({
              ...trace,
              blockHash: `0x${'1'.repeat(64)}`,
            })),
          },
        };
      },
    ],
    [
      'that is too short',
      (call) =>
        call.method === 'trace_block' ? { json: { jsonrpc: '2.0', id: call.id, result: [] } } : undefined,
    ],
    ['that is refused', refusesTraces],
    ['that never comes', (call) => (isTrace(call) ? 'hang' : undefined)],
  ] as readonly [string, Fault][]) {
    it(`${name} is not taken but asked for at the next endpoint, once each, and nobody rests for it`, async () => {
      const rpc = poolOf([first, second, third]);
      const reader = readerOf(rpc, name === 'that never comes' ? 1_000 : 10_000);
      const number = await paid();
      await reader.scan(number, watched, signal); // Who traces is known from now on.
      second.fault = fault;
      await reader.scan(number, watched, signal);
      second.calls.length = 0;
      third.calls.length = 0;
      const block = await reader.scan(number, watched, signal);
      expect(block?.transfers.map(({ amountUnits }) => amountUnits)).to.deep.equal([5n]);
      expect([tracesAt(second), tracesAt(third)]).to.deep.equal([1, 1]);
      third.fault = fault;
      third.calls.length = 0;
      second.calls.length = 0;
      expect((await reader.scan(number, watched, signal))?.untraced, 'nobody has it').to.not.equal(undefined);
      expect([tracesAt(second), tracesAt(third)]).to.deep.equal([1, 1]);
      expect(rpc.status().map(({ problem }) => problem)).to.deep.equal([null, null, null]);
    });
  }

  it('that is refused as too many is asked for at the next endpoint, and again there when a moment has passed', async () => {
    const rpc = poolOf([first, second, third]);
    const reader = readerOf(rpc);
    const number = await paid();
    await reader.scan(number, watched, signal);
    second.fault = (call) => (isTrace(call) ? { status: 429, body: '{}' } : undefined);
    second.calls.length = 0;
    for (let i = 0; i < 3; i++)
      expect((await reader.scan(number, watched, signal))?.untraced).to.equal(undefined);
    expect(tracesAt(second), 'once, and then it is left alone').to.equal(1);
    nowMs += 1_000;
    second.fault = undefined;
    second.calls.length = 0;
    expect((await reader.scan(number, watched, signal))?.untraced).to.equal(undefined);
    expect(tracesAt(second)).to.equal(1);
    expect(rpc.status().map(({ problem }) => problem)).to.deep.equal([null, null, null]);
  });

  it('is not asked for at an endpoint that failed three times, until it has rested; a failure of many at once is one', async () => {
    const reader = readerOf(poolOf([first, second]));
    const number = await paid();
    await reader.scan(number, watched, signal);
    let arrived = 0;
    const all = new Promise<void>((resolve) => {
      second.fault = async (call, forward) => {
        if (!isTrace(call)) return undefined;
        arrived += 1;
        if (arrived === 8) resolve();
        await all;
        return await refusesTraces(call, forward);
      };
    });
    await Promise.all(Array.from({ length: 8 }, () => reader.scan(number, watched, signal)));
    second.fault = undefined;
    expect((await reader.scan(number, watched, signal))?.untraced, 'still asked').to.equal(undefined);
    second.fault = refusesTraces;
    for (let i = 0; i < 3; i++) await reader.scan(number, watched, signal);
    second.fault = undefined;
    second.calls.length = 0;
    expect((await reader.scan(number, watched, signal))?.untraced).to.not.equal(undefined);
    expect(second.calls).to.deep.equal([]);
    nowMs += 10 * 60_000;
    expect((await reader.scan(number, watched, signal))?.untraced).to.equal(undefined);
  });

  it('holds a block up for a moment only when the others hang from the start, and the next ones not at all', async () => {
    const rpc = poolOf([first, second, third], { timeoutMs: 600_000 });
    const reader = readerOf(rpc, 500);
    const number = await paid();
    second.fault = () => 'hang';
    third.fault = () => 'hang';
    // Nothing else ends this wait: neither the pool's limit nor the proxy.
    expect((await reader.scan(number, watched, signal))?.untraced).to.not.equal(undefined);
    expect(rpc.status()[0]?.problem).to.equal(null);
  });

  it('is not asked for at an endpoint of another chain', async () => {
    second.fault = (call) =>
      call.method === 'eth_chainId' ? { json: { jsonrpc: '2.0', id: call.id, result: '0x61' } } : undefined;
    expect(
      (await readerOf(poolOf([first, second])).scan(await paid(), watched, signal))?.untraced,
    ).to.not.equal(undefined);
    expect(second.calls.map(({ method }) => method)).to.deep.equal(['eth_chainId']);
  });

  it('stays within the budget of the endpoint: one that has none to spare is left out', async () => {
    // No time passes, so that the turns do not depend on the machine.
    const rpc = poolOf([first, second], {
      requestsPerSecond: 4,
      burst: 4,
      now: () => 0,
      pause: async () => undefined,
    });
    const ask = () => rpc.elsewhere(0, async (session) => await session.call('eth_blockNumber', []), signal);
    const answers = await Promise.all(Array.from({ length: 40 }, ask));
    // Each takes a turn for the chain id and one for its question;
    // 4 turns at once and 4 of the next second are to be had.
    expect(answers.filter((answer) => answer !== undefined)).to.have.length.within(2, 10);
  });
});
