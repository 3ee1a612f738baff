import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain, USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { always, BLOCK_FAULTS, changed } from '../../dev/support/faults.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import type { ChainReader, ScannedBlock } from '../../src/chains/reader.ts';
import { ChainMismatch, RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import { createRpcPool, type RpcPool, type RpcPoolOptions } from '../../src/chains/rpc/json-rpc.ts';

const { signal } = new AbortController();
const alice = `0x${'a1'.repeat(20)}`;
describe('endpoints that fail, lie or lag', () => {
  let chain: TestChain;
  let bad: FaultProxy;
  let good: FaultProxy;
  let number: number;
  const watched = new AddressSet();
  const reports: string[] = [];

  function pool(urls: readonly string[], options: Partial<RpcPoolOptions> = {}): RpcPool {
    return createRpcPool({
      name: 'bsc',
      urls,
      chainId: TEST_CHAIN_ID,
      timeoutMs: 400,
      report: (message) => reports.push(message),
      ...options,
    });
  }
  const readerOf = (rpc: RpcPool): ChainReader => createBscReader({ rpc, usdtContract: chain.usdt.address });
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => new Error('it succeeded'),
      (error: unknown) => error as Error,
    );

  before(async () => {
    chain = await startTestChain();
    watched.add(alice);
    bad = await startFaultProxy(chain.url);
    good = await startFaultProxy(chain.url);
    await chain.usdt.call('transfer', [alice, 5n * USDT_UNIT]);
    await chain.send({ to: alice, valueUnits: 3n });
    await chain.usdt.call('transfer', [chain.accounts[4], 1n]);
    number = await chain.mine();
  });
  after(async () => {
    await Promise.all([bad.stop(), good.stop()]);
    await chain.stop();
  });
  beforeEach(() => {
    bad.fault = undefined;
    good.fault = undefined;
    bad.calls.length = 0;
    good.calls.length = 0;
    reports.length = 0;
  });

  function expectComplete(block: ScannedBlock | undefined): void {
    expect(block?.transfers.map((transfer) => transfer.amountUnits)).to.deep.equal([5n * USDT_UNIT, 3n]);
  }

  for (const [name, reason, fault] of BLOCK_FAULTS) {
    it(`reads the block elsewhere when an endpoint ${name}, and says so`, async () => {
      bad.fault = fault;
      expectComplete(await readerOf(pool([bad.url, good.url])).scan(number, watched, signal));
      expect(reports.join()).to.match(reason);

      const alone = await failureOf(readerOf(pool([bad.url])).scan(number, watched, signal));
      expect(alone).to.be.instanceOf(name === 'serves another chain' ? ChainMismatch : RpcUnavailable);
      expect(alone.message).to.match(reason);
    });
  }

  it('credits nothing of an answer that is too large, and does not keep it', async () => {
    const big = changed('eth_getBlockReceipts', () => 'x'.repeat(3_000_000));
    bad.fault = big;
    const rpc = pool([bad.url], { maxResponseBytes: 1_048_576, timeoutMs: 5_000 });
    expect((await failureOf(readerOf(rpc).scan(number, watched, signal))).message).to.match(
      /answer larger than 1 MiB/,
    );
  });

  it('stops unpacking a small answer that grows beyond the limit', async () => {
    const body = gzipSync(Buffer.alloc(30 * 1_048_576, 32), { level: 1 });
    expect(body.byteLength).to.be.below(1_048_576);
    bad.fault = always({ status: 200, headers: { 'content-encoding': 'gzip' }, body });
    const rpc = pool([bad.url], { maxResponseBytes: 1_048_576, timeoutMs: 5_000 });
    expect((await failureOf(readerOf(rpc).scan(number, watched, signal))).message).to.match(
      /answer larger than 1 MiB/,
    );
  });

  it('asks again on a new connection when a kept one was closed at the moment of its use, and only then', async () => {
    const rpc = pool([bad.url]);
    await rpc.run((session) => session.call('eth_blockNumber', []), signal);
    bad.calls.length = 0;
    let resets = 1;
    bad.fault = () => (resets-- > 0 ? 'reset' : undefined);
    expect(await rpc.run((session) => session.call('eth_blockNumber', []), signal)).to.match(/^0x/);
    expect(rpc.status()[0]?.problem).to.equal(null);
    expect(bad.calls).to.have.length(2);
    await rpc.run((session) => session.call('eth_blockNumber', []), signal);
    bad.calls.length = 0;
    resets = 5;
    expect(
      (await failureOf(rpc.run((session) => session.call('eth_blockNumber', []), signal))).message,
    ).to.match(/connection failed/);
    expect(bad.calls, 'twice for one question at most').to.have.length(2);
  });

  it('asks for the chain again after a connection broke: another node may answer now', async () => {
    const rpc = pool([bad.url]);
    await readerOf(rpc).header(number, signal);
    bad.fault = always({ status: 502, body: '' });
    await failureOf(readerOf(rpc).header(number, signal));
    bad.fault = changed('eth_chainId', () => '0x61');
    expect(await failureOf(readerOf(rpc).header(number, signal))).to.be.instanceOf(ChainMismatch);
    expect(rpc.status()[0]?.problem).to.equal('chain id 97 instead of 56');
  });

  it('reads one block from one endpoint only', async () => {
    const reader = readerOf(pool([bad.url, good.url]));
    // The first one also finds out whether the endpoint traces.
    expectComplete(await reader.scan(number, watched, signal));
    bad.calls.length = 0;
    for (let i = 0; i < 3; i++) expectComplete(await reader.scan(number, watched, signal));
    expect(bad.calls.map((call) => call.method)).to.deep.equal(
      Array(3).fill(['eth_getBlockByNumber', 'eth_getBlockReceipts', 'trace_block']).flat(),
    );
    expect(good.calls.filter((call) => call.method.startsWith('eth_getBlock'))).to.deep.equal([]);
  });

  it('comes back to an endpoint that answers again, after a pause', async () => {
    const rpc = pool([bad.url, good.url], { probeEveryMs: 100 });
    bad.fault = always({ status: 502, body: '' });
    await readerOf(rpc).header(number, signal);
    expect(rpc.status()[0]?.problem).to.equal('http 502');
    bad.fault = undefined;
    bad.calls.length = 0;
    await readerOf(rpc).header(number, signal);
    expect(bad.calls).to.deep.equal([]);
    await eventually('its return', async () => {
      await readerOf(rpc).header(number, signal);
      return rpc.status()[0]?.problem === null;
    });
    expect(rpc.status().map((endpoint) => endpoint.problem)).to.deep.equal([null, null]);
    expect(reports.at(-1)).to.match(/answers again/);
    good.calls.length = 0;
    await readerOf(rpc).header(number, signal);
    expect(
      good.calls.filter((call) => call.method !== 'eth_blockNumber'),
      'the first one is preferred again',
    ).to.deep.equal([]);
  });

  it('is not turned into a storm by a caller that retries at once', async () => {
    bad.fault = always({ status: 429, body: '' });
    const reader = readerOf(pool([bad.url]));
    const until = Date.now() + 1_500;
    while (Date.now() < until) await failureOf(reader.head(signal));
    expect(bad.calls.length).to.be.at.most(8);
  });

  it('keeps away as long as Retry-After says', async () => {
    bad.fault = always({ status: 429, body: '', headers: { 'retry-after': '30' } });
    const rpc = pool([bad.url, good.url], { random: () => 0 });
    await readerOf(rpc).header(number, signal);
    bad.fault = undefined;
    bad.calls.length = 0;
    const until = Date.now() + 1_500;
    while (Date.now() < until) {
      await readerOf(rpc).header(number, signal);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(bad.calls).to.deep.equal([]);
  });

  it('leaves an endpoint whose head stands still for one that is ahead', async () => {
    bad.fault = async (call, forward) => {
      if (call.method === 'eth_blockNumber') return { json: { id: call.id, result: '0x1' } };
      return call.params[0] === 'latest'
        ? { json: { ...(await forward()), id: call.id, result: staleHead } }
        : undefined;
    };
    const staleHead = await chain.anvil.rpc('eth_getBlockByNumber', ['0x1', false]);
    const rpc = pool([bad.url, good.url], { lagBlocks: 1, probeEveryMs: 0 });
    const reader = readerOf(rpc);
    await reader.head(signal);
    await eventually('the head of the other one', async () => (await reader.head(signal)).number >= number);
    expect((await reader.head(signal)).number).to.be.at.least(number);
    expect(rpc.status()[0]?.problem).to.match(/blocks behind the best endpoint/);
    good.fault = always({ status: 500, body: '' });
    expect((await reader.head(signal)).number, 'the one that lags is better than none').to.equal(1);
  });

  it('does not take an endpoint for slow because it is asked for its head more rarely than blocks are made', async () => {
    const rpc = pool([bad.url, good.url], { lagBlocks: 1, probeEveryMs: 60_000 });
    const reader = readerOf(rpc);
    await reader.head(signal);
    await eventually('the other one’s head', () => rpc.status()[1]?.headNumber === number);
    for (let i = 0; i < 4; i++) {
      await chain.mine();
      await reader.head(signal);
    }
    expect(rpc.status().map(({ headNumber, problem }) => [headNumber, problem])).to.deep.equal([
      [number + 4, null],
      [number, null],
    ]);
  });

  it('asks the next endpoint while the first one has no turn left for a while', async () => {
    const rpc = pool([bad.url, good.url], { requestsPerSecond: 2, burst: 2, probeEveryMs: 60_000 });
    const calls = Array.from(
      { length: 6 },
      async () => await rpc.run((session) => session.call('eth_blockNumber', []), signal),
    );
    expect(await Promise.all(calls)).to.have.length(6);
    for (let i = 0; i < 4; i++) await rpc.run((session) => session.call('eth_blockNumber', []), signal);
    expect(bad.calls.length, 'the first one').to.be.at.least(4);
    expect(good.calls.length, 'the next one').to.be.at.least(4);
  });

  it('asks another endpoint for a block that the first one does not have yet', async () => {
    bad.fault = changed('eth_getBlockByNumber', () => null);
    expectComplete(await readerOf(pool([bad.url, good.url])).scan(number, watched, signal));
  });

  it('does not call a transaction gone because one endpoint lags', async () => {
    const txHash =
      (await readerOf(pool([good.url])).scan(number, watched, signal))?.transfers[0]?.txHash ?? '';
    bad.fault = changed('eth_getTransactionReceipt', () => null);
    const reader = readerOf(pool([bad.url, good.url]));
    expect((await reader.locate(txHash, signal))?.blockNumber).to.equal(number);
    good.fault = always('hang');
    bad.fault = always('hang');
    expect(await failureOf(reader.locate(txHash, signal))).to.be.instanceOf(RpcUnavailable);
  });

  it('asks for compressed answers', async () => {
    await readerOf(pool([bad.url])).head(signal);
    expect(bad.requests.at(-1)?.headers['accept-encoding']).to.match(/gzip/);
  });

  it('refuses to start when one of several endpoints serves another chain, but not when one is away', async () => {
    const urls = [good.url, bad.url];
    bad.fault = changed('eth_chainId', () => '0x1');
    const error = await failureOf(readerOf(pool(urls)).checkIdentity(signal));
    expect(error).to.be.instanceOf(ChainMismatch);
    expect(error.message).to.match(/serves chain id 1 instead of 56: correct the RPC URL or the chain id$/);
    bad.fault = always('hang');
    await readerOf(pool(urls)).checkIdentity(signal);
  });

  it('stops in the middle of a hanging call when it is told to', async () => {
    bad.fault = always('hang');
    const abort = new AbortController();
    const reading = failureOf(readerOf(pool([bad.url], { timeoutMs: 60_000 })).head(abort.signal));
    setTimeout(() => abort.abort(new Error('shutting down')), 50);
    expect((await reading).message).to.equal('shutting down');
  });
});
