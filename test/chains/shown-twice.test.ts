import { expect } from 'chai';
import { type Fault, type FaultProxy, firstOf } from '../../dev/support/fault-proxy.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import { isTrace, NO_TRACES, without } from '../services/watcher/test-watcher.ts';
import { ALICE, bscScene } from './bsc-scene.ts';
import { failureOf } from './conformance/scene.ts';

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
const eachLog = (change: Json): Fault => logs((all) => all.map((one) => ({ ...one, ...change })));
const twice = <T>(list: readonly T[]): T[] => list.flatMap((one) => [one, one]);
const doubled = firstOf(
  changed('eth_getBlockByNumber', (block) => {
    const { transactions } = block as { transactions: unknown[] };
    return { ...(block as Json), logsBloom: undefined, transactions: twice(transactions) };
  }),
  changed('eth_getBlockReceipts', (all) => twice(all as Json[])),
);

const ELSEWHERE = /another block or transaction/;
const SHOWN: Readonly<Record<string, readonly [Fault, RegExp]>> = {
  'a log twice': [logs(twice), /shows log \d+ twice/],
  'a transaction twice': [doubled, /a transaction twice/],
  'a log of another transaction': [eachLog({ transactionHash: `0x${'2'.repeat(64)}` }), ELSEWHERE],
  'a log of another block': [eachLog({ blockHash: `0x${'3'.repeat(64)}` }), ELSEWHERE],
  'a log at no place': [eachLog({ logIndex: null }), ELSEWHERE],
  ...Object.fromEntries(
    ['0x2', '', 'success'].map((status) => [
      `the status "${status}"`,
      [everyReceipt((one) => ({ ...one, status })), ELSEWHERE] as const,
    ]),
  ),
};

/**
 * Money is summed from what one endpoint shows of a block, so nothing
 * in it may be shown twice, or belong elsewhere, or mean nothing.
 */
describe('an endpoint that shows something of a block twice', () => {
  const the = bscScene({ endpoints: 2 });
  let liar: FaultProxy;
  let honest: FaultProxy;
  let number: number;
  before(async () => {
    [liar, honest] = the.proxies as [FaultProxy, FaultProxy];
    await the.payer.call('pay', [the.chain.usdt.address, [ALICE, ALICE], [15n, 25n]]);
    await the.chain.send({ to: ALICE, valueUnits: 3n });
    await the.payer.call('payCoin', [ALICE, 7n]);
    number = await the.chain.mine();
    await the.chain.mine(4);
  });
  const sumsOf = async (reader: ChainReader): Promise<string[]> =>
    (await the.scan(reader, number)).transfers.map((one) => `${one.kind} ${one.amountUnits}`).toSorted();
  const TRUTH = ['native 3', 'native 7', 'token 40'];

  for (const [name, [fault, reason]] of Object.entries(SHOWN))
    it(`is not believed: ${name}, in all receipts or one by one; another endpoint is`, async () => {
      for (const lack of [without(), without('eth_getBlockReceipts')]) {
        liar.fault = firstOf(lack, fault);
        expect(await sumsOf(the.readerOf())).to.deep.equal(TRUTH);
        const alone = await failureOf(sumsOf(the.readerOf([liar])));
        expect(alone).to.be.instanceOf(RpcUnavailable);
        expect(String(alone)).to.match(reason);
      }
    });

  it('is not believed: a call in a trace; the trace of another endpoint is', async () => {
    const calls = changed('trace_block', (frames) =>
      twice(frames as Json[]).filter((one, at) => at % 2 === 0 || (one['traceAddress'] as []).length > 0),
    );
    liar.fault = calls;
    expect(await sumsOf(the.readerOf())).to.deep.equal(TRUTH);
    expect(honest.calls.some(isTrace)).to.equal(true);
    liar.fault = firstOf(calls, without(...NO_TRACES.slice(1)));
    expect(await sumsOf(the.readerOf([liar])), 'alone it shows none').to.deep.equal(['native 3', 'token 40']);
  });
});
