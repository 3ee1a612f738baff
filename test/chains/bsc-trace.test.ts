import { expect } from 'chai';
import { type Contract, startTestChain, TEST_CHAIN_ID, type TestChain } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { type FaultProxy, type RpcCall, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import { createTracer } from '../../src/chains/bsc/traces/tracer.ts';
import type { ChainReader, ScannedBlock } from '../../src/chains/reader.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';

const { signal } = new AbortController();
const alice = `0x${'a1'.repeat(20)}`;
const bob = `0x${'b0'.repeat(20)}`;
const stranger = `0x${'5e'.repeat(20)}`;
const FUND = 10n ** 18n;

/** Refuses the named methods as a node does that does not offer them. */
const without =
  (...methods: string[]) =>
  (call: RpcCall) =>
    methods.includes(call.method)
      ? {
          json: {
            jsonrpc: '2.0',
            id: call.id,
            error: { code: -32601, message: 'the method does not exist/is not available' },
          },
        }
      : undefined;

for (const [method, refused] of [
  ['trace_block', 'debug_traceBlockByHash'],
  ['debug_traceBlockByHash', 'trace_block'],
] as const) {
  describe(`BNB that contracts pass on, with ${method}`, () => {
    let chain: TestChain;
    let proxy: FaultProxy;
    let reader: ChainReader;
    let payer: Contract;
    let ownWallet: string;
    const reports: string[] = [];
    const watched = new AddressSet();

    before(async () => {
      chain = await startTestChain();
      proxy = await startFaultProxy(chain.url);
      proxy.fault = without(refused);
      const rpc = createRpcPool({ name: 'bsc', urls: [proxy.url], chainId: TEST_CHAIN_ID });
      reader = createBscReader({
        rpc,
        usdtContract: chain.usdt.address,
        report: (message) => reports.push(message),
      });
      payer = await chain.deploy(testContracts().Payer);
      ownWallet = (await chain.deploy(testContracts().Payer)).address;
      for (const address of [alice, bob]) watched.add(address);
      watched.add(ownWallet, 'gas');
      await chain.send({ to: payer.address, valueUnits: FUND });
      await chain.send({ to: ownWallet, valueUnits: FUND });
      await chain.mine();
    });
    after(async () => {
      await proxy.stop();
      await chain.stop();
    });

    async function scanned(): Promise<ScannedBlock> {
      const block = await reader.scan(await chain.mine(), watched, signal);
      if (!block) throw new Error('the block is not there');
      expect(block.untraced).to.equal(undefined);
      return block;
    }
    const found = (block: ScannedBlock) =>
      block.transfers.map(({ txHash, to, from, currency, kind, amountUnits }) => [
        txHash,
        to,
        from,
        currency,
        kind,
        amountUnits,
      ]);

    it('finds it, with the paying contract as the sender', async () => {
      const txHash = await payer.call('payCoin', [alice, 5n]);
      expect(found(await scanned())).to.deep.equal([[txHash, alice, payer.address, 'BNB', 'native', 5n]]);
      expect(reports[0]).to.match(new RegExp(`shows internal transfers \\(${method}\\)$`));
    });

    it('finds it where no calldata names the customer', async () => {
      const heir = await chain.deploy(testContracts().Heir, [stranger, 0n, alice], { valueUnits: 100n });
      const txHash = await heir.call('pay', [7n]);
      expect(found(await scanned())).to.deep.equal([[txHash, alice, heir.address, 'BNB', 'native', 7n]]);
    });

    it('finds what a contract leaves when it ends', async () => {
      const heir = await chain.deploy(testContracts().Heir, [stranger, 0n, bob], { valueUnits: 90n });
      const txHash = await heir.call('end');
      expect(found(await scanned())).to.deep.equal([[txHash, bob, heir.address, 'BNB', 'native', 90n]]);
    });

    it('finds what a contract pays while it is created with value', async () => {
      const heir = await chain.deploy(testContracts().Heir, [alice, 30n, stranger], { valueUnits: 100n });
      const block = await reader.scan((await reader.head(signal)).number, watched, signal);
      expect(block?.transfers.map(({ to, from, amountUnits }) => [to, from, amountUnits])).to.deep.equal([
        [alice, heir.address, 30n],
      ]);
    });

    it('sums payments of one transaction to one customer and keeps customers apart', async () => {
      const txHash = await payer.call('payCoins', [
        [alice, bob, alice, stranger],
        [1n, 20n, 300n, 4000n],
      ]);
      expect(found(await scanned())).to.deep.equal([
        [txHash, alice, payer.address, 'BNB', 'native', 301n],
        [txHash, bob, payer.address, 'BNB', 'native', 20n],
      ]);
    });

    it('does not count the plain transfer twice, which is the top frame of its trace', async () => {
      const txHash = await chain.send({ to: alice, valueUnits: 9n, data: '0xc0ffee' });
      expect(found(await scanned())).to.deep.equal([[txHash, alice, chain.accounts[0], 'BNB', 'native', 9n]]);
    });

    it('says no sender where a transaction and a contract below it both paid', async () => {
      const forwarder = await chain.deploy(testContracts().Heir, [stranger, 0n, alice], { valueUnits: 100n });
      const all = new AddressSet();
      for (const address of [alice, forwarder.address]) all.add(address);
      // The contract itself is watched here, so it counts as
      // our own wallet and what it passes on does not count.
      await chain.send({ to: forwarder.address, valueUnits: 3n });
      const block = await reader.scan(await chain.mine(), all, signal);
      expect(block?.transfers.map(({ to, amountUnits }) => [to, amountUnits])).to.deep.equal([
        [forwarder.address, 3n],
      ]);
    });

    it('counts nothing of a part that failed, although its transaction succeeded', async () => {
      const txHash = await payer.call('payCoinAndSwallow', [alice, 5n]);
      expect((await scanned()).transfers).to.deep.equal([]);
      expect(await chain.anvil.rpc('eth_getTransactionReceipt', [txHash])).to.include({ status: '0x1' });
    });

    it('counts nothing of a transaction that failed', async () => {
      await payer.call('payCoinAndFail', [alice, 5n]);
      expect((await scanned()).transfers).to.deep.equal([]);
    });

    it('counts no value that a delegatecall only carries along', async () => {
      const lender = await chain.deploy(testContracts().Lender);
      const all = new AddressSet();
      all.add(lender.address);
      const carrying = await chain.deploy(testContracts().Payer);
      const txHash = await carrying.call('borrow', [lender.address, alice], { valueUnits: 50n });
      const block = await reader.scan(await chain.mine(), all, signal);
      expect(block?.transfers).to.deep.equal([]);
      expect(await chain.anvil.rpc('eth_getTransactionReceipt', [txHash])).to.include({ status: '0x1' });
    });

    it('credits nothing that our own wallets pass on, and keeps it apart', async () => {
      const own = {
        call: (args: readonly unknown[]) => chain.send({ to: ownWallet, data: payer.data('payCoin', args) }),
      };
      const txHash = await own.call([alice, 5n]);
      const block = await scanned();
      expect(block.transfers).to.deep.equal([]);
      expect(block.own).to.deep.equal([
        {
          txHash,
          to: alice,
          from: ownWallet,
          currency: 'BNB',
          kind: 'native',
          inside: true,
          amountUnits: 5n,
        },
      ]);
    });
  });
}

describe('an endpoint and its traces', () => {
  let chain: TestChain;
  let proxy: FaultProxy;
  let payer: Contract;
  let nowMs = 0;
  const reports: string[] = [];
  const watched = new AddressSet();

  const readerOf = (): ChainReader => {
    const rpc = createRpcPool({ name: 'bsc', urls: [proxy.url], chainId: TEST_CHAIN_ID, timeoutMs: 2_000 });
    const tracer = createTracer({
      timeoutMs: 200,
      now: () => nowMs,
      report: (message) => reports.push(message),
    });
    return createBscReader({ rpc, usdtContract: chain.usdt.address, tracer });
  };

  before(async () => {
    chain = await startTestChain();
    proxy = await startFaultProxy(chain.url);
    payer = await chain.deploy(testContracts().Payer);
    await chain.send({ to: payer.address, valueUnits: FUND });
    watched.add(alice);
    await chain.mine();
  });
  after(async () => {
    await proxy.stop();
    await chain.stop();
  });
  beforeEach(() => {
    proxy.fault = undefined;
    reports.length = 0;
  });

  it('reads blocks without traces where none are offered, says so on the block, and asks again after an hour', async () => {
    proxy.fault = without('trace_block', 'debug_traceBlockByHash');
    const reader = readerOf();
    const txHash = await payer.call('payCoin', [alice, 5n]);
    const number = await chain.mine();
    const block = await reader.scan(number, watched, signal);
    expect(block?.transfers).to.deep.equal([]);
    expect(block?.untraced?.succeeded.has(txHash)).to.equal(true);
    expect(reports.join()).to.match(/does not show internal transfers/);
    proxy.fault = undefined;
    expect((await reader.scan(number, watched, signal))?.untraced).to.not.equal(undefined);
    nowMs += 60 * 60_000;
    expect((await reader.scan(number, watched, signal))?.transfers[0]).to.include({
      amountUnits: 5n,
      txHash,
    });
  });

  for (const [name, answer] of [
    ['hangs', () => 'hang' as const],
    [
      'answers with a list that is too short',
      (call: RpcCall) => ({ json: { jsonrpc: '2.0', id: call.id, result: [] } }),
    ],
    [
      'answers with an error for one transaction',
      (call: RpcCall) => ({ json: { jsonrpc: '2.0', id: call.id, result: [{ error: 'x' }] } }),
    ],
  ] as const) {
    it(`still gives the block when the trace ${name}, and stops asking after three failures`, async () => {
      const reader = readerOf();
      await payer.call('payCoin', [alice, 5n]);
      const number = await chain.mine();
      expect((await reader.scan(number, watched, signal))?.untraced).to.equal(undefined);
      proxy.fault = (call) => (call.method === 'trace_block' ? answer(call) : undefined);
      for (let i = 0; i < 4; i++)
        expect((await reader.scan(number, watched, signal))?.untraced).to.not.equal(undefined);
      expect(reports.join()).to.match(/stopped showing internal transfers/);
      const asked = proxy.calls.filter((call) => call.method === 'trace_block').length;
      await reader.scan(number, watched, signal);
      expect(proxy.calls.filter((call) => call.method === 'trace_block')).to.have.length(asked);
      proxy.fault = undefined;
      nowMs += 10 * 60_000;
      expect((await reader.scan(number, watched, signal))?.transfers).to.have.length(1);
    });
  }

  it('does not take the trace of a block that was replaced meanwhile', async () => {
    const reader = readerOf();
    await payer.call('payCoin', [alice, 5n]);
    const number = await chain.mine();
    await reader.scan(number, watched, signal);
    proxy.fault = async (call, forward) => {
      if (call.method !== 'trace_block') return undefined;
      const answer = await forward();
      const moved = (answer.result as object[]).map((trace) => ({
        ...trace,
        blockHash: `0x${'1'.repeat(64)}`,
      }));
      return { json: { ...answer, result: moved } };
    };
    expect((await reader.scan(number, watched, signal))?.untraced).to.not.equal(undefined);
  });
});
