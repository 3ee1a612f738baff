import { expect } from 'chai';
import {
  type Contract,
  startTestChain,
  TEST_CHAIN_ID,
  type TestChain,
  USDT_UNIT,
} from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { TRANSFER_TOPIC } from '../../src/chains/bsc/block.ts';
import { bloomOf } from '../../src/chains/bsc/bloom.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import { firstBlockSince } from '../../src/chains/first-block.ts';
import type { ChainReader, ScannedBlock } from '../../src/chains/reader.ts';
import { ChainMismatch, RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';

const { signal } = new AbortController();
const alice = `0x${'a1'.repeat(20)}`;
const bob = `0x${'b0'.repeat(20)}`;
const stranger = `0x${'5e'.repeat(20)}`;
const pad = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;

describe('scanning real blocks of BNB Chain', () => {
  let chain: TestChain;
  let reader: ChainReader;
  let payer: Contract;
  let gasWallet: string;
  let customer: string; // The second account: a deposit address whose key the node has, so that it can send.
  let payingAccount: string;
  const watched = new AddressSet();

  const rpcPool = (chainId = TEST_CHAIN_ID) => createRpcPool({ name: 'bsc', urls: [chain.url], chainId });

  before(async () => {
    chain = await startTestChain();
    [payingAccount = '', customer = '', gasWallet = ''] = chain.accounts;
    for (const address of [alice, bob, customer]) watched.add(address);
    watched.add(gasWallet, 'gas');
    reader = createBscReader({ rpc: rpcPool(), usdtContract: chain.usdt.address, unrecognisedLimit: 5 });
    payer = await chain.deploy(testContracts().Payer);
    await chain.send({ to: payer.address, valueUnits: USDT_UNIT });
    for (const to of [payer.address, customer, gasWallet])
      await chain.usdt.call('transfer', [to, 1_000n * USDT_UNIT]);
    await chain.mine();
  });
  after(() => chain.stop());

  async function scanned(): Promise<ScannedBlock> {
    const block = await reader.scan(await chain.mine(), watched, signal);
    if (!block) throw new Error('the block is not there');
    return block;
  }

  it('finds a token transfer with its sender, hash and amount to the last unit', async () => {
    const amountUnits = 12n * USDT_UNIT + 345n;
    const txHash = await chain.usdt.call('transfer', [alice, amountUnits]);
    const block = await scanned();
    expect(block.transfers).to.deep.equal([
      { txHash, to: alice, from: payingAccount, currency: 'USDT', kind: 'token', amountUnits },
    ]);
    expect(block.unrecognised).to.deep.equal([]);
  });

  it('finds BNB sent in the transaction itself', async () => {
    const txHash = await chain.send({ to: bob, valueUnits: 7n });
    expect((await scanned()).transfers).to.deep.equal([
      { txHash, to: bob, from: payingAccount, currency: 'BNB', kind: 'native', amountUnits: 7n },
    ]);
  });

  it('finds an amount that needs all 256 bits', async () => {
    const amountUnits = 2n ** 256n - 1n - (await totalOf(alice));
    await chain.usdt.call('mint', [alice, amountUnits]);
    expect((await scanned()).transfers[0]).to.include({ amountUnits, from: `0x${'0'.repeat(40)}` });
    await chain.anvil.rpc('anvil_reorg', [1, []]);
  });

  async function totalOf(address: string): Promise<bigint> {
    return BigInt(
      (await chain.anvil.rpc('eth_call', [
        { to: chain.usdt.address, data: chain.usdt.data('balanceOf', [address]) },
        'latest',
      ])) as string,
    );
  }

  it('finds a transferFrom by a third contract, and names the holder as the sender', async () => {
    await chain.usdt.call('approve', [payer.address, 100n]);
    const txHash = await payer.call('pull', [chain.usdt.address, [payingAccount], [alice], [55n]], {
      from: chain.accounts[5] ?? '',
    });
    expect((await scanned()).transfers).to.deep.equal([
      { txHash, to: alice, from: payingAccount, currency: 'USDT', kind: 'token', amountUnits: 55n },
    ]);
  });

  it('sums all transfers of one asset to one address in one transaction', async () => {
    const txHash = await payer.call('pay', [chain.usdt.address, [alice, alice, alice], [1n, 20n, 300n]]);
    expect((await scanned()).transfers).to.deep.equal([
      { txHash, to: alice, from: payer.address, currency: 'USDT', kind: 'token', amountUnits: 321n },
    ]);
  });

  it('says no sender where the summed transfers have different ones', async () => {
    const other = chain.accounts[6] ?? '';
    await chain.usdt.call('transfer', [other, 100n]);
    await chain.usdt.call('approve', [payer.address, 100n]);
    await chain.usdt.call('approve', [payer.address, 100n], { from: other });
    await chain.mine();
    await payer.call('pull', [chain.usdt.address, [payingAccount, other], [alice, alice], [40n, 2n]]);
    const [transfer] = (await scanned()).transfers;
    expect(transfer).to.include({ from: null, amountUnits: 42n });
  });

  it('makes two transfers of one transaction that pays two customers', async () => {
    const txHash = await payer.call('pay', [chain.usdt.address, [alice, stranger, bob], [1n, 9n, 2n]]);
    const { transfers } = await scanned();
    expect(transfers.map(({ txHash: hash, to, amountUnits }) => [hash, to, amountUnits])).to.deep.equal([
      [txHash, alice, 1n],
      [txHash, bob, 2n],
    ]);
  });

  it('keeps BNB and USDT apart, and the same transfer in two transactions too', async () => {
    await chain.send({ to: alice, valueUnits: 5n });
    await chain.usdt.call('transfer', [alice, 5n]);
    await chain.usdt.call('transfer', [alice, 5n]);
    const { transfers } = await scanned();
    expect(transfers.map((transfer) => transfer.currency)).to.deep.equal(['BNB', 'USDT', 'USDT']);
    expect(new Set(transfers.map((transfer) => transfer.txHash)).size).to.equal(3);
  });

  it('credits nothing of zero value, of a failed transaction or to an address that is not ours', async () => {
    await chain.usdt.call('transfer', [alice, 0n]);
    await chain.send({ to: alice, valueUnits: 0n });
    await chain.usdt.call('transfer', [stranger, 5n]);
    await chain.send({ to: stranger, valueUnits: 5n });
    await payer.call('payAndFail', [chain.usdt.address, alice, 5n]);
    await payer.call('payAndSwallow', [chain.usdt.address, alice, 5n]);
    await chain.usdt.call('transfer', [alice, 10n ** 30n], { from: chain.accounts[7] ?? '' });
    await chain.send({ to: null, valueUnits: 0n, data: '0x00' });
    const block = await scanned();
    expect([block.transfers, block.unrecognised]).to.deep.equal([[], []]);
  });

  it('credits no BNB of a transaction that failed', async () => {
    const txHash = await chain.send({ to: chain.usdt.address, valueUnits: 5n, data: '0xdeadbeef' });
    const all = new AddressSet();
    all.add(chain.usdt.address);
    const block = await reader.scan(await chain.mine(), all, signal);
    expect(await chain.anvil.rpc('eth_getTransactionReceipt', [txHash])).to.include({ status: '0x0' });
    expect(block?.transfers).to.deep.equal([]);
  });

  it('credits nothing that our own wallets send: gas wallets and deposit addresses alike', async () => {
    await chain.send({ from: gasWallet, to: alice, valueUnits: 5n });
    await chain.send({ from: customer, to: alice, valueUnits: 5n });
    await chain.usdt.call('transfer', [alice, 5n], { from: gasWallet });
    await chain.usdt.call('transfer', [bob, 5n], { from: customer });
    await chain.usdt.call('transfer', [gasWallet, 5n]);
    await chain.send({ to: gasWallet, valueUnits: 5n });
    const block = await scanned();
    expect([block.transfers, block.unrecognised]).to.deep.equal([[], []]);
  });

  it('leaves the part of our own wallets out of a sum', async () => {
    await chain.usdt.call('approve', [payer.address, 100n]);
    await chain.usdt.call('approve', [payer.address, 100n], { from: gasWallet });
    await chain.mine();
    await payer.call('pull', [chain.usdt.address, [gasWallet, payingAccount], [alice, alice], [40n, 2n]]);
    expect((await scanned()).transfers[0]).to.include({ from: payingAccount, amountUnits: 2n });
  });

  it('records other tokens for the operator and never credits them', async () => {
    const fake = await chain.deploy(testContracts().Token, [18]);
    const txHash = await fake.call('mint', [alice, 10n ** 30n]);
    await fake.call('mint', [stranger, 5n]);
    const block = await scanned();
    expect(block.transfers).to.deep.equal([]);
    expect(block.unrecognised).to.deep.equal([
      { txHash, to: alice, contract: fake.address, amountUnits: 10n ** 30n, reason: 'another token' },
    ]);
  });

  it('never credits a forged Transfer log, nor one in an odd form', async () => {
    await payer.call('log3', [TRANSFER_TOPIC, pad(stranger), pad(alice), word(5n)]);
    await payer.call('log3', [TRANSFER_TOPIC, pad(stranger), pad(alice), '0x']);
    await payer.call('log3', [TRANSFER_TOPIC, pad(stranger), pad(alice), word(5n) + word(6n).slice(2)]);
    await payer.call('log4', [TRANSFER_TOPIC, pad(stranger), pad(alice), word(5n)]);
    const block = await scanned();
    expect(block.transfers).to.deep.equal([]);
    expect(block.unrecognised.map((transfer) => transfer.amountUnits)).to.deep.equal([5n, null, null, null]);
  });

  it('does not credit an odd log even of the token contract itself', async () => {
    const odd = createBscReader({ rpc: rpcPool(), usdtContract: payer.address });
    await payer.call('log3', [TRANSFER_TOPIC, pad(stranger), pad(alice), `${word(5n)}00`]);
    await payer.call('log4', [TRANSFER_TOPIC, pad(stranger), pad(alice), word(5n)]);
    await payer.call('log3', [TRANSFER_TOPIC, pad(stranger), pad(bob), word(6n)]);
    const block = await odd.scan(await chain.mine(), watched, signal);
    expect(block?.transfers.map((transfer) => transfer.amountUnits)).to.deep.equal([6n]);
    expect(block?.unrecognised.map((transfer) => transfer.reason)).to.deep.equal(
      Array(2).fill('a Transfer log of the token contract in an unknown form'),
    );
  });

  it('limits how much spam one block records, and counts the rest', async () => {
    for (let i = 1; i <= 8; i++)
      await payer.call('log3', [TRANSFER_TOPIC, pad(stranger), pad(alice), word(BigInt(i))]);
    const block = await scanned();
    expect([block.unrecognised.length, block.unrecognisedDropped]).to.deep.equal([5, 3]);
  });

  it('computes the same bloom as the node, on which the search for missing logs rests', async () => {
    const txHash = await payer.call('pay', [chain.usdt.address, [alice, stranger, bob], [1n, 9n, 2n]]);
    await chain.mine();
    const receipt = (await chain.anvil.rpc('eth_getTransactionReceipt', [txHash])) as {
      logs: { address: string; topics: string[] }[];
      logsBloom: string;
    };
    expect(bloomOf(receipt.logs)).to.equal(receipt.logsBloom);
  });

  it('proves chain and token at the start, and says what is wrong', async () => {
    await reader.checkIdentity(signal);
    const token6 = await chain.deploy(testContracts().Token, [6]);
    const refusal = async (usdtContract: string, chainId?: number) => {
      const checking = createBscReader({ rpc: rpcPool(chainId), usdtContract }).checkIdentity(signal);
      const error = await checking.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).to.be.instanceOf(ChainMismatch);
      return (error as Error).message;
    };
    expect(await refusal(token6.address)).to.match(/has 6 decimals, not 18: correct BSC_USDT_CONTRACT$/);
    expect(await refusal(stranger)).to.match(/no token contract at 0x5e5e/);
    expect(await refusal(payer.address)).to.match(/refuses decimals\(\)/);
    expect(await refusal(chain.usdt.address, 97)).to.match(/serves chain id 56 instead of 97/);
  });

  it('finds the first block at or after a time, wherever it lies', async () => {
    const start = await reader.head(signal);
    for (let i = 1; i <= 24; i++) {
      await chain.anvil.rpc('evm_setNextBlockTimestamp', [
        Math.floor(start.timestampMs / 1000) + i * 10 + (i % 3),
      ]);
      await chain.mine();
    }
    const head = await reader.head(signal);
    for (let number = start.number + 1; number <= head.number; number++) {
      const ref = await reader.header(number, signal);
      const before = await reader.header(number - 1, signal);
      if (!ref || !before) throw new Error('no header');
      expect((await firstBlockSince(reader, ref.timestampMs, signal)).number).to.equal(number);
      expect((await firstBlockSince(reader, before.timestampMs + 1, signal)).number).to.equal(number);
    }
    expect((await firstBlockSince(reader, head.timestampMs + 1, signal)).number).to.equal(head.number);
    expect((await firstBlockSince(reader, 0, signal)).number).to.equal(0);
  });

  it('will not guess the first block when a header on the way is missing', async () => {
    const head = await reader.head(signal);
    const pruned: ChainReader = {
      ...reader,
      header: async (number, stop) => (number < head.number - 5 ? undefined : reader.header(number, stop)),
    };
    const error = await firstBlockSince(pruned, 0, signal).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(RpcUnavailable);
  });
});
