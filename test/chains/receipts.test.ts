import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain, USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import {
  type Fault,
  type FaultProxy,
  firstOf,
  type RpcCall,
  startFaultProxy,
} from '../../dev/support/fault-proxy.ts';
import { changed } from '../../dev/support/faults.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import type { RpcPoolOptions } from '../../src/chains/rpc/json-rpc.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { NO_TRACES, startTestWatcher, type TestWatcher, without } from '../services/watcher/test-watcher.ts';

const { signal } = new AbortController();
const alice = `0x${'a1'.repeat(20)}`;
const error = (call: RpcCall, code: number, message: string) => ({
  json: { jsonrpc: '2.0', id: call.id, error: { code, message } },
});
const lacking =
  (code: number, message: string, status = 200): Fault =>
  (call) => {
    if (call.method !== 'eth_getBlockReceipts') return undefined;
    const answer = error(call, code, message);
    return status === 200 ? answer : { status, body: JSON.stringify(answer.json) };
  };
const LACKING = without('eth_getBlockReceipts', ...NO_TRACES);

type Receipt = { logs: object[]; blockHash: string; transactionHash: string };

describe('a block of an endpoint without eth_getBlockReceipts', () => {
  let chain: TestChain;
  let lame: FaultProxy;
  let whole: FaultProxy;
  let number: number;
  const watched = new AddressSet();
  const reports: string[] = [];

  before(async () => {
    chain = await startTestChain();
    watched.add(alice);
    [lame, whole] = (await Promise.all([chain.url, chain.url].map(startFaultProxy))) as [
      FaultProxy,
      FaultProxy,
    ];
    for (let i = 0; i < 60; i++) await chain.send({ to: alice, valueUnits: 1n });
    await chain.usdt.call('transfer', [alice, 5n * USDT_UNIT]);
    number = await chain.mine();
  });
  after(async () => {
    await Promise.all([lame.stop(), whole.stop()]);
    await chain.stop();
  });
  beforeEach(() => {
    for (const proxy of [lame, whole]) {
      proxy.fault = undefined;
      proxy.batchFault = undefined;
      proxy.calls.length = 0;
      proxy.requests.length = 0;
    }
    reports.length = 0;
  });

  const readerOf = (proxies: readonly FaultProxy[], options: Partial<RpcPoolOptions> = {}): ChainReader =>
    createBscReader({
      rpc: createRpcPool({
        name: 'bsc',
        urls: proxies.map(({ url }) => url),
        chainId: TEST_CHAIN_ID,
        burst: 200,
        ...options,
      }),
      usdtContract: chain.usdt.address,
      report: (message) => reports.push(message),
    });
  const sumOf = async (reader: ChainReader): Promise<bigint[]> => {
    const block = await reader.scan(number, watched, signal);
    const native = block?.transfers.filter(({ kind }) => kind === 'native') ?? [];
    return [
      BigInt(native.length),
      ...(block?.transfers ?? [])
        .filter(({ kind }) => kind === 'token')
        .map(({ amountUnits }) => amountUnits),
    ];
  };
  const COMPLETE = [60n, 5n * USDT_UNIT];
  const singles = (): number =>
    lame.calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length;
  const posts = (): number =>
    lame.requests.length - lame.calls.filter(({ method }) => method !== 'eth_getTransactionReceipt').length;

  for (const [name, fault] of [
    ['-32601', lacking(-32601, 'the method eth_getBlockReceipts does not exist/is not available')],
    ['a sentence alone', lacking(-32000, 'Method not found')],
    ['"is not supported"', lacking(-32000, 'eth_getBlockReceipts is not supported')],
    ['"Unsupported method"', lacking(-32600, 'Unsupported method: eth_getBlockReceipts')],
    ['a plan that is too small', lacking(-32000, 'method not allowed, upgrade to a paid plan', 403)],
    ['a 404', lacking(-32601, 'rpc method is not whitelisted', 404)],
    [
      'a parameter it does not take',
      lacking(-32602, 'invalid argument 0: hex string has length 64, want 16'),
    ],
  ] as const) {
    it(`is read by batches of single receipts where it says ${name}, and the report says so once`, async () => {
      lame.fault = firstOf(fault, without(...NO_TRACES));
      const reader = readerOf([lame]);
      expect(await sumOf(reader)).to.deep.equal(COMPLETE);
      expect([singles(), posts() < 5]).to.deep.equal([61, true]);
      expect(await sumOf(reader)).to.deep.equal(COMPLETE);
      expect(lame.calls.filter(({ method }) => method === 'eth_getBlockReceipts')).to.have.length(1);
      expect(reports.filter((line) => line.includes('eth_getBlockReceipts'))).to.have.length(1);
    });
  }

  for (const [name, answer] of [
    [
      'an error',
      () => ({
        json: {
          jsonrpc: '2.0',
          id: null,
          error: { code: -32600, message: 'Batch requests are not supported' },
        },
      }),
    ],
    [
      'a limit of their size',
      () => ({
        json: { jsonrpc: '2.0', error: { code: -32005, message: 'batch limit exceeded, at most 3' } },
      }),
    ],
    ['a 400', () => ({ status: 400, body: 'invalid request' })],
    ['a 413', () => ({ status: 413, body: '' })],
  ] as const) {
    it(`is read by single calls where batches are answered with ${name}`, async () => {
      lame.fault = LACKING;
      lame.batchFault = answer;
      const reader = readerOf([lame]);
      expect(await sumOf(reader)).to.deep.equal(COMPLETE);
      lame.requests.length = 0;
      lame.calls.length = 0;
      expect(await sumOf(reader), 'and no batch is tried for each block').to.deep.equal(COMPLETE);
      expect([singles(), posts()]).to.deep.equal([61, 61]);
    });
  }

  it('is not taken for refusing batches because it asks for fewer requests', async () => {
    lame.fault = LACKING;
    lame.batchFault = () => ({ status: 429, body: '' });
    const reader = readerOf([lame]);
    expect(await reader.scan(number, watched, signal).catch((failure: unknown) => failure)).to.be.instanceOf(
      RpcUnavailable,
    );
    lame.batchFault = undefined;
    lame.requests.length = 0;
    lame.calls.length = 0;
    const sum = await eventually('the end of its rest', () => sumOf(reader).catch(() => undefined));
    expect(sum).to.deep.equal(COMPLETE);
    expect(posts()).to.be.below(5);
  });

  const single = (change: (receipt: Receipt) => unknown): Fault =>
    changed('eth_getTransactionReceipt', change);
  for (const [name, fault, reason] of [
    ['leaves logs out', single((receipt) => ({ ...receipt, logs: [] })), /logs are missing/],
    [
      'belongs to another block',
      single((receipt) => ({ ...receipt, blockHash: `0x${'1'.repeat(64)}` })),
      /another block or transaction/,
    ],
    [
      'belongs to another transaction',
      single((r) => ({ ...r, transactionHash: `0x${'2'.repeat(64)}` })),
      /another block or transaction/,
    ],
    ['is not there yet', single(() => null), /another block or transaction/],
    [
      'never comes',
      (call) => (call.method === 'eth_getTransactionReceipt' ? 'hang' : undefined),
      /no answer within/,
    ],
  ] as readonly [string, Fault, RegExp][]) {
    it(`is not taken where a receipt ${name}`, async () => {
      lame.fault = firstOf(LACKING, fault);
      const failure = await readerOf([lame], { timeoutMs: 1_000 })
        .scan(number, watched, signal)
        .catch((one: unknown) => one);
      expect(failure).to.be.instanceOf(RpcUnavailable);
      expect(String(failure)).to.match(reason);
    });
  }

  it('is read from an endpoint that gives all receipts in one call as long as one does', async () => {
    lame.fault = LACKING;
    const reader = readerOf([lame, whole]);
    expect(await sumOf(reader), 'found out by the first block').to.deep.equal(COMPLETE);
    lame.calls.length = 0;
    for (let i = 0; i < 3; i++) expect(await sumOf(reader)).to.deep.equal(COMPLETE);
    expect(singles()).to.equal(0);
    whole.fault = () => ({ status: 503, body: '' });
    expect(await sumOf(reader), 'and from the other one when it does not answer').to.deep.equal(COMPLETE);
    expect(singles()).to.equal(61);
  });

  it('stays within the rate: each question of a batch counts', async () => {
    lame.fault = LACKING;
    const began = performance.now();
    await sumOf(readerOf([lame], { requestsPerSecond: 30, burst: 10 }));
    expect(performance.now() - began).to.be.above(1_500);
  });
});

describe('following a chain through an endpoint without eth_getBlockReceipts', function () {
  this.timeout(60_000);
  let live: TestWatcher;
  after(() => live?.stop());

  it('detects and verifies a deposit', async () => {
    live = await startTestWatcher({ fault: LACKING });
    const address = await live.newAddress();
    await live.chain.usdt.call('transfer', [address, 3n]);
    await live.chain.mine();
    await live.finish();
    const [deposit] = await live.deposits(address);
    expect(deposit).to.include({ amount_units: '3' });
    expect(deposit?.['verified_at']).to.not.equal(null);
  });
});
