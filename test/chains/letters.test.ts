import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain, USDT_UNIT } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import type { ChainReader, ScannedBlock } from '../../src/chains/reader.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { NO_TRACES, without } from '../services/watcher/test-watcher.ts';

const { signal } = new AbortController();
const alice = `0x${'ab'.repeat(20)}`;

/** Every hex text of an answer in capital letters, with or without its prefix. */
function shouted(value: unknown, prefix: '0x' | '0X'): unknown {
  if (typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)) return prefix + value.slice(2).toUpperCase();
  if (Array.isArray(value)) return value.map((one) => shouted(one, prefix));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shouted(one, prefix)]));
}
const shouts =
  (prefix: '0x' | '0X', only: (method: string) => boolean = () => true, ...lacking: string[]): Fault =>
  async (call, forward) => {
    const lack = await without(...lacking)(call, forward);
    if (lack || !only(call.method)) return lack;
    const answer = await forward();
    return { json: { ...answer, result: shouted(answer.result, prefix) } };
  };

describe('an endpoint that writes hex in capital letters', () => {
  let chain: TestChain;
  let proxy: FaultProxy;
  let reader: ChainReader;
  let number: number;
  let plain: ScannedBlock | undefined;
  const watched = new AddressSet();

  const newReader = (): ChainReader =>
    createBscReader({
      rpc: createRpcPool({ name: 'bsc', urls: [proxy.url], chainId: TEST_CHAIN_ID }),
      usdtContract: chain.usdt.address,
    });
  const scan = async () => await reader.scan(number, watched, signal, [keyOfHex(alice, 2)]);

  before(async () => {
    chain = await startTestChain({ slotsInAnEpoch: 1 });
    proxy = await startFaultProxy(chain.url);
    watched.add(alice);
    const payer = await chain.deploy(testContracts().Payer);
    const other = await chain.deploy(testContracts().Token, [18]);
    await other.call('mint', [chain.accounts[0], 10n]);
    await chain.send({ to: payer.address, valueUnits: 100n });
    await chain.mine();
    await chain.usdt.call('transfer', [alice, 5n * USDT_UNIT]);
    await chain.send({ to: alice, valueUnits: 3n });
    await payer.call('payCoin', [alice, 7n]);
    await other.call('transfer', [alice, 1n]);
    number = await chain.mine();
    reader = newReader();
    plain = await scan();
    expect(plain?.transfers).to.have.length(3);
    expect([plain?.unrecognised.length, plain?.untraced]).to.deep.equal([1, undefined]);
  });
  after(async () => {
    await proxy.stop();
    await chain.stop();
  });
  beforeEach(() => {
    reader = newReader();
  });

  for (const [name, fault] of [
    ['everywhere', shouts('0x')],
    ['everywhere, the prefix too', shouts('0X')],
    ['in blocks alone', shouts('0X', (method) => method === 'eth_getBlockByNumber')],
    ['in receipts alone', shouts('0X', (method) => method === 'eth_getBlockReceipts')],
    ['in traces alone', shouts('0X', (method) => method === 'trace_block')],
    ['and traces by the callTracer', shouts('0X', () => true, 'trace_block')],
    ['and gives receipts one by one', shouts('0X', () => true, 'eth_getBlockReceipts')],
  ] as const) {
    it(`shows the very same block ${name}`, async () => {
      proxy.fault = fault;
      expect(await scan()).to.deep.equal(plain);
    });
  }

  it('names the same transactions as succeeded where it does not trace', async () => {
    proxy.fault = without(...NO_TRACES);
    const untraced = (await scan())?.untraced;
    proxy.fault = shouts('0X', () => true, ...NO_TRACES);
    reader = newReader();
    expect((await scan())?.untraced).to.deep.equal(untraced);
  });

  it('names the same heads, places, balances and token', async () => {
    proxy.fault = undefined;
    const ask = async () => ({
      head: await reader.head(signal),
      finalized: await reader.finalized(signal),
      header: await reader.header(number, signal),
      views: await reader.views(number, signal),
      place: await reader.locate(plain?.transfers[0]?.txHash ?? '', signal),
      balances: await reader.balances?.([keyOfHex(alice, 2), keyOfHex('cd'.repeat(20))], number, signal),
    });
    const before = await ask();
    proxy.fault = shouts('0X');
    reader = newReader();
    expect(await ask()).to.deep.equal(before);
    await reader.checkIdentity(signal);
  });

  it('hides no missing log behind the letters', async () => {
    proxy.fault = async (call, forward) => {
      if (call.method !== 'eth_getBlockReceipts') return undefined;
      const answer = await forward();
      const receipts = (answer.result as { logs: unknown[] }[]).map((receipt) => ({ ...receipt, logs: [] }));
      return { json: { ...answer, result: shouted(receipts, '0X') } };
    };
    expect(String(await scan().catch((error: unknown) => error))).to.match(/logs are missing/);
  });
});
