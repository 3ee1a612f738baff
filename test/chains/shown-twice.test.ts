import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { type Fault, type FaultProxy, firstOf, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { NO_TRACES, without } from '../services/watcher/test-watcher.ts';

const { signal } = new AbortController();
const alice = `0x${'a1'.repeat(20)}`;

type Json = Record<string, unknown>;
/** The answer to one method, without the blooms that would give it away. */
const changed =
  (method: string, change: (result: unknown) => unknown): Fault =>
  async (call, forward) => {
    if (call.method !== method || (method === 'eth_getBlockByNumber' && call.params[1] !== true))
      return undefined;
    const answer = await forward();
    return { json: { ...answer, result: change(answer.result) } };
  };
const noBloom = (receipt: unknown): Json => ({ ...(receipt as Json), logsBloom: undefined });
const everyReceipt = (change: (receipt: Json) => Json): Fault =>
  firstOf(
    changed('eth_getBlockReceipts', (list) => (list as Json[]).map((one) => change(noBloom(one)))),
    changed('eth_getTransactionReceipt', (one) => change(noBloom(one))),
  );
const logs = (change: (all: readonly Json[]) => readonly Json[]): Fault =>
  everyReceipt((receipt) => ({ ...receipt, logs: change(receipt['logs'] as Json[]) }));
const twice = <T>(list: readonly T[]): T[] => list.flatMap((one) => [one, one]);

/**
 * Money is summed from what one endpoint shows of a block, so nothing
 * in it may be shown twice, or belong elsewhere, or mean nothing.
 */
describe('an endpoint that shows something of a block twice', function () {
  this.timeout(60_000);
  let chain: TestChain;
  let liar: FaultProxy;
  let honest: FaultProxy;
  let number: number;
  const watched = new AddressSet();

  before(async () => {
    chain = await startTestChain({ slotsInAnEpoch: 1 });
    [liar, honest] = await Promise.all([startFaultProxy(chain.url), startFaultProxy(chain.url)]);
    watched.add(alice);
    const payer = await chain.deploy(testContracts().Payer);
    await chain.send({ to: payer.address, valueUnits: 100n });
    await chain.usdt.call('transfer', [payer.address, 100n]);
    await chain.mine();
    await payer.call('pay', [chain.usdt.address, [alice, alice], [15n, 25n]]);
    await chain.send({ to: alice, valueUnits: 3n });
    await payer.call('payCoin', [alice, 7n]);
    number = await chain.mine();
    await chain.mine(4);
  });
  after(async () => {
    await Promise.all([liar, honest].map((proxy) => proxy?.stop()));
    await chain?.stop();
  });
  beforeEach(() => {
    liar.fault = undefined;
    honest.calls.length = 0;
  });

  const readerOf = (...proxies: readonly FaultProxy[]): ChainReader =>
    createBscReader({
      rpc: createRpcPool({ name: 'bsc', urls: proxies.map(({ url }) => url), chainId: TEST_CHAIN_ID }),
      usdtContract: chain.usdt.address,
    });
  const sumsOf = async (reader: ChainReader) => {
    const block = await reader.scan(number, watched, signal);
    const sum = (kind: string) =>
      (block?.transfers ?? []).filter((one) => one.kind === kind).map(({ amountUnits }) => amountUnits);
    return { token: sum('token'), native: sum('native').toSorted() };
  };
  const TRUTH = { token: [40n], native: [3n, 7n] };

  const CASES: readonly (readonly [string, Fault, RegExp])[] = [
    ['a log', logs(twice), /shows log \d+ twice/],
    [
      'a transaction',
      firstOf(
        changed('eth_getBlockByNumber', doubled),
        changed('eth_getBlockReceipts', (all) => twice(all as Json[])),
      ),
      /a transaction twice/,
    ],
    [
      'a log of another transaction',
      logs((all) => all.map((one) => ({ ...one, transactionHash: `0x${'2'.repeat(64)}` }))),
      /another block or/,
    ],
    [
      'a log of another block',
      logs((all) => all.map((one) => ({ ...one, blockHash: `0x${'3'.repeat(64)}` }))),
      /another block or transaction/,
    ],
    [
      'a log at no place',
      logs((all) => all.map((one) => ({ ...one, logIndex: null }))),
      /another block or transaction/,
    ],
    ...['0x2', '', '0x', 'success', '0x10'].map(
      (status) =>
        [
          `the status "${status}"`,
          everyReceipt((one) => ({ ...one, status })),
          /another block or transaction/,
        ] as const,
    ),
  ];
  function doubled(block: unknown): Json {
    const known = block as { transactions: unknown[] };
    return { ...known, logsBloom: undefined, transactions: twice(known.transactions) };
  }

  for (const [name, fault, reason] of CASES)
    for (const single of [false, true])
      it(`is not believed: ${name}${single ? ', receipt by receipt' : ''}; another endpoint is`, async () => {
        liar.fault = firstOf(single ? without('eth_getBlockReceipts') : () => undefined, fault);
        expect(await sumsOf(readerOf(liar, honest))).to.deep.equal(TRUTH);
        const alone = await sumsOf(readerOf(liar)).catch((error: unknown) => error);
        expect(alone).to.be.instanceOf(RpcUnavailable);
        expect(String(alone)).to.match(reason);
      });

  it('is not believed: a call in a trace; the trace of another endpoint is', async () => {
    liar.fault = changed('trace_block', (frames) =>
      twice(frames as Json[]).filter((one, at) => at % 2 === 0 || (one['traceAddress'] as []).length > 0),
    );
    expect(await sumsOf(readerOf(liar, honest))).to.deep.equal(TRUTH);
    expect(honest.calls.map(({ method }) => method)).to.include('trace_block');
    liar.fault = firstOf(liar.fault, without(...NO_TRACES.slice(1)));
    expect(await sumsOf(readerOf(liar)), 'alone it shows none').to.deep.equal({ token: [40n], native: [3n] });
  });

  it('takes a status however it is written', async () => {
    for (const status of ['0X1', '0x01']) {
      liar.fault = everyReceipt((one) => ({ ...one, status }));
      expect(await sumsOf(readerOf(liar))).to.deep.equal(TRUTH);
    }
  });
});
