import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import type { Fault } from '../../dev/support/fault-proxy.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { without } from '../services/watcher/test-watcher.ts';
import { ALICE, bscScene, signal } from './bsc-scene.ts';

/** Every hex text of an answer in capital letters, with or without its prefix. */
function shouted(value: unknown, prefix: '0x' | '0X'): unknown {
  if (typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)) return prefix + value.slice(2).toUpperCase();
  if (Array.isArray(value)) return value.map((one) => shouted(one, prefix));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shouted(one, prefix)]));
}
const shouts =
  (prefix: '0x' | '0X', only?: string, ...lacking: string[]): Fault =>
  async (call, forward) => {
    const lack = await without(...lacking)(call, forward);
    if (lack || (only !== undefined && call.method !== only)) return lack;
    const answer = await forward();
    return { json: { ...answer, result: shouted(answer.result, prefix) } };
  };

describe('an endpoint that writes hex in capital letters', () => {
  const the = bscScene();
  let number: number;
  before(async () => {
    const other = await the.chain.deploy(testContracts().Token, [18]);
    await other.call('mint', [ALICE, 1n]);
    await the.chain.usdt.call('transfer', [ALICE, 5n * USDT_UNIT]);
    await the.chain.send({ to: ALICE, valueUnits: 3n });
    await the.payer.call('payCoin', [ALICE, 7n]);
    number = await the.chain.mine();
  });
  const scan = (reader: ChainReader) => reader.scan(number, the.watched, signal, [keyOfHex(ALICE, 2)]);
  /** What a new reader sees by an endpoint that errs so. */
  const seen = async (fault: Fault | undefined, ask: (reader: ChainReader) => Promise<unknown> = scan) => {
    for (const proxy of the.proxies) proxy.fault = fault;
    return await ask(the.readerOf());
  };

  const WAYS: Readonly<Record<string, Fault>> = {
    everywhere: shouts('0x'),
    'everywhere, the prefix too': shouts('0X'),
    'in blocks alone': shouts('0X', 'eth_getBlockByNumber'),
    'in receipts alone': shouts('0X', 'eth_getBlockReceipts'),
    'in traces alone': shouts('0X', 'trace_block'),
    'and traces by the callTracer': shouts('0X', undefined, 'trace_block'),
    'and gives receipts one by one': shouts('0X', undefined, 'eth_getBlockReceipts'),
  };
  for (const [way, fault] of Object.entries(WAYS))
    it(`shows the very same block ${way}`, async () => {
      const plain = await the.scan(the.readerOf(), number);
      expect([plain.transfers.length, plain.unrecognised.length, plain.untraced]).to.eql([3, 1, undefined]);
      expect(await seen(fault)).to.deep.equal(await seen(undefined));
    });

  it('names the same heads, places, balances and token', async () => {
    const { transfers } = await the.scan(the.readerOf(), number);
    const ask = async (reader: ChainReader) => ({
      identity: await reader.checkIdentity(signal),
      head: await reader.head(signal),
      finalized: await reader.finalized(signal),
      header: await reader.header(number, signal),
      views: await reader.views(number, signal),
      place: await reader.locate(transfers[0]?.txHash ?? '', signal),
      balances: await reader.balances?.([keyOfHex(ALICE, 2), keyOfHex('cd'.repeat(20))], number, signal),
    });
    expect(await seen(shouts('0X'), ask)).to.deep.equal(await seen(undefined, ask));
  });
});
