// What our own wallets send on BNB Chain, in blocks of a real node. What left a wallet is counted by its
// balances, before and after.
import { expect } from 'chai';
import { HDNodeWallet, type TransactionLike, Wallet } from 'ethers';
import { type Contract, startTestChain, TEST_CHAIN_ID, type TestChain } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { type Fault, type FaultProxy, firstOf, startFaultProxy } from '../../../dev/support/fault-proxy.ts';
import { changed } from '../../../dev/support/faults.ts';
import { TEST_PHRASE } from '../../../dev/support/test-wallet.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { AddressSet } from '../../../src/chains/address-set.ts';
import { createBscReader } from '../../../src/chains/bsc/reader.ts';
import { bscTransfers } from '../../../src/chains/bsc/transfer.ts';
import type { SentByUs } from '../../../src/chains/outgoing.ts';
import type { ChainReader, ScannedBlock } from '../../../src/chains/reader.ts';
import { RpcUnavailable } from '../../../src/chains/rpc/errors.ts';
import { createRpcPool } from '../../../src/chains/rpc/json-rpc.ts';

const { signal } = new AbortController();
const GWEI = 10n ** 9n;
const shop = `0x${'c0'.repeat(20)}`;
const other = `0x${'c1'.repeat(20)}`;
const alice = `0x${'a1'.repeat(20)}`;

const TERMS = { chainId: TEST_CHAIN_ID, usdtContract: shop, maxGasPriceWei: GWEI, maxGasLimit: 100_000n };

type Json = Record<string, unknown>;

describe('what our wallets send on BNB Chain', function () {
  this.timeout(60_000);
  let chain: TestChain;
  let proxy: FaultProxy;
  let batch: Contract;
  let reader: ChainReader;
  const watched = new AddressSet();
  const keys = [1, 2, 3].map((at) => HDNodeWallet.fromPhrase(TEST_PHRASE, '', `m/44'/60'/0'/0/${at}`));
  const [wallet = '', gas = ''] = keys.map(({ address }) => address.toLowerCase());

  before(async () => {
    chain = await startTestChain();
    proxy = await startFaultProxy(chain.url);
    batch = await chain.deploy(testContracts().Payer);
    watched.add(wallet);
    watched.add(alice);
    watched.add(gas, 'gas');
    reader = readerOver(proxy.url);
    await chain.usdt.call('transfer', [wallet, 1_000n]);
    await chain.mine();
  });
  beforeEach(() => {
    proxy.fault = undefined;
  });
  after(async () => {
    await proxy.stop();
    await chain.stop();
  });

  const readerOver = (url: string): ChainReader =>
    createBscReader({
      rpc: createRpcPool({ name: 'bsc', urls: [url], chainId: TEST_CHAIN_ID }),
      usdtContract: chain.usdt.address,
    });
  async function scanned(): Promise<ScannedBlock> {
    return there(await reader.scan(await chain.mine(), watched, signal));
  }
  async function sentIn(): Promise<SentByUs> {
    const { sent = [] } = await scanned();
    expect(sent).to.have.length(1);
    return there(sent[0]);
  }
  const coinsOf = async (address: string, back = 0): Promise<bigint> => {
    const head = Number(await chain.anvil.rpc('eth_blockNumber', []));
    return BigInt(
      String(await chain.anvil.rpc('eth_getBalance', [address, `0x${(head - back).toString(16)}`])),
    );
  };
  const nonceOf = async (address: string): Promise<number> =>
    Number(await chain.anvil.rpc('eth_getTransactionCount', [address, 'latest']));
  const signed = async (at: number, transaction: TransactionLike): Promise<string> => {
    const key = there(keys[at]);
    const whole = {
      chainId: TEST_CHAIN_ID,
      nonce: await nonceOf(key.address),
      gasLimit: 500_000n,
      ...transaction,
    };
    return String(await chain.anvil.rpc('eth_sendRawTransaction', [await key.signTransaction(whole)]));
  };
  const calls = (at: number, contract: Contract, method: string, args: unknown[]): Promise<string> =>
    signed(at, { type: 2, maxFeePerGas: 9n * GWEI, to: contract.address, data: contract.data(method, args) });
  /** What the block before cost the wallet beside what it paid. */
  const costOf = async (address: string, paid: bigint): Promise<bigint> =>
    (await coinsOf(address, 1)) - (await coinsOf(address)) - paid;

  it('is told with hash, nonce, fee and receiver, for each type of transaction', async () => {
    const dear = { maxFeePerGas: 9n * GWEI, maxPriorityFeePerGas: 2n * GWEI };
    const permit = await Wallet.createRandom().authorize({
      address: batch.address,
      chainId: TEST_CHAIN_ID,
      nonce: 0,
    });
    const types: readonly TransactionLike[] = [
      { type: 0, gasPrice: 7n * GWEI },
      { type: 1, gasPrice: 7n * GWEI, accessList: [{ address: shop, storageKeys: [] }] },
      { type: 2, ...dear },
      { type: 4, ...dear, authorizationList: [permit] },
    ];
    for (const type of types) {
      const nonce = await nonceOf(wallet);
      const txHash = await signed(0, { ...type, to: shop, value: 12_345n });
      const found = await sentIn();
      const moves = [{ to: shop, currency: 'BNB', units: 12_345n }];
      const { proof, ...rest } = found;
      expect(bscTransfers(TERMS).places?.(there(proof), keyOfHex(wallet, 2))).to.deep.equal([nonce]);
      expect(rest, `type ${type.type}`).to.deep.equal({
        txHash,
        from: wallet,
        nonce,
        ok: true,
        feeUnits: await costOf(wallet, 12_345n),
        moves,
      });
      expect(found.feeUnits > 21_000n * GWEI).to.equal(true);
    }
  });

  it('is told where it failed: its fee is gone, and nothing else', async () => {
    const data = chain.usdt.data('transfer', [shop, 10n ** 30n]);
    const txHash = await signed(0, { type: 2, maxFeePerGas: 9n * GWEI, to: chain.usdt.address, data });
    const found = await sentIn();
    expect(found).to.deep.include({ txHash, ok: false, moves: [], feeUnits: await costOf(wallet, 0n) });
    const value = await signed(1, { type: 2, maxFeePerGas: 9n * GWEI, to: chain.usdt.address, value: 5n });
    expect(await sentIn()).to.deep.include({ txHash: value, from: gas, ok: false, moves: [] });
  });

  it('is told with its tokens, summed by receiver, and without what it moved to itself', async () => {
    const txHash = await calls(0, chain.usdt, 'transfer', [shop, 40n]);
    expect(await sentIn()).to.deep.include({
      txHash,
      moves: [{ to: shop, currency: 'USDT', units: 40n }],
      feeUnits: await costOf(wallet, 0n),
    });
    await calls(0, chain.usdt, 'approve', [batch.address, 1_000n]);
    expect((await sentIn()).moves).to.deep.equal([]);
    const holders = [wallet, wallet, wallet, wallet];
    const to = [shop, other, shop, wallet];
    await calls(0, batch, 'pull', [chain.usdt.address, holders, to, [1n, 2n, 30n, 400n]]);
    expect((await sentIn()).moves).to.have.deep.members([
      { to: shop, currency: 'USDT', units: 31n },
      { to: other, currency: 'USDT', units: 2n },
    ]);
    await signed(0, { type: 2, maxFeePerGas: 9n * GWEI, to: wallet, value: 9n });
    expect((await sentIn()).moves).to.deep.equal([]);
  });

  it('is the approval with which somebody else’s transaction takes its tokens, and not that transaction', async () => {
    const approved = await calls(0, chain.usdt, 'approve', [batch.address, 1_000n]);
    expect((await sentIn()).txHash).to.equal(approved);
    await batch.call('pull', [chain.usdt.address, [wallet, wallet], [shop, other], [6n, 7n]]);
    expect((await scanned()).sent).to.equal(undefined);
    await calls(1, batch, 'pull', [chain.usdt.address, [wallet], [shop], [8n]]);
    expect(await sentIn()).to.deep.include({ from: gas, moves: [] });
  });

  /** Code of a contract that runs at the wallet's address (EIP-7702): whoever calls it moves its coins. */
  it('is the leave for others to run code at its address, once, and takes a place of the wallet', async () => {
    const nonce = await nonceOf(wallet);
    const place = { address: batch.address, chainId: TEST_CHAIN_ID, nonce };
    const permit = await there(keys[0]).authorize(place);
    const elsewhere = await there(keys[1]).authorize({ ...place, chainId: 97 });
    const fees = { maxFeePerGas: 9n * GWEI, maxPriorityFeePerGas: GWEI, to: wallet };
    const stolen = (transaction: TransactionLike) => signed(2, { type: 2, ...fees, ...transaction });
    const data = batch.data('payCoin', [shop, 5n]);
    const txHash = await stolen({ type: 4, authorizationList: [elsewhere, permit, permit], data });
    const found = await sentIn();
    const moves = [{ to: shop, currency: 'BNB', units: 5n }];
    expect(found).to.deep.include({ txHash, from: wallet, nonce, ok: true, feeUnits: 0n, moves });
    expect(await nonceOf(wallet)).to.equal(nonce + 1);
    const proof = there(found.proof);
    const { places } = bscTransfers(TERMS);
    expect(keys.map(({ address }) => places?.(proof, keyOfHex(address, 2)))).to.deep.equal([
      [nonce, nonce],
      [],
      [(await nonceOf(there(keys[2]).address)) - 1],
    ]);
    const elsewhereIs = bscTransfers({ ...TERMS, chainId: 97 }).places;
    expect(elsewhereIs?.(proof, keyOfHex(wallet, 2))).to.deep.equal([]);
    await stolen({ data: batch.data('payCoin', [alice, 9n]) });
    const { sent, own } = await scanned();
    expect([sent, own?.map(({ to }) => to)]).to.deep.equal([undefined, [alice]]);
  });

  const both = (transactions: (one: Json) => Json, receipts: (one: Json) => Json): Fault =>
    firstOf(
      changed('eth_getBlockByNumber', (block: Json) => ({
        ...block,
        transactions: (block['transactions'] as unknown[]).map((one) =>
          typeof one === 'string' ? one : transactions(one as Json),
        ),
      })),
      changed('eth_getBlockReceipts', (list: Json[]) => list.map(receipts)),
    );
  const same = (one: Json): Json => one;

  const body = (change: Json): Fault => both((one) => ({ ...one, ...change }), same);
  const receipt = (change: Json): Fault => both(same, (one) => ({ ...one, ...change }));
  const noHash = (hash: unknown): string => `${String(hash).slice(0, -1)}\u0000`;
  const WRONG: Readonly<Record<string, Fault>> = {
    'no gas': receipt({ gasUsed: undefined }),
    'no price': receipt({ effectiveGasPrice: undefined }),
    'a fee beyond all money': receipt({ effectiveGasPrice: `0x${'f'.repeat(64)}` }),
    'another content than was signed': body({ gas: '0x7a121' }),
    'the signature of nobody': body({ r: '0x1', s: '0x1' }),
    'another chain': body({ chainId: '0x61' }),
    'a type that nobody knows': body({ type: '0x5' }),
    'another sender in its receipt': receipt({ from: other }),
    'no sender in its receipt': receipt({ from: undefined }),
    'the receipt of another block': receipt({ blockHash: `0x${'ee'.repeat(32)}` }),
    'a status that is none': receipt({ status: '0x2' }),
    'no nonce': body({ nonce: undefined }),
    'a value that is none': body({ value: '0x' }),
    'no receiver': body({ to: undefined }),
    'the price of blobs alone': body({ type: '0x3' }),
    'a sender without its prefix': body({ from: wallet.slice(2) }),
    'no sender at all': body({ from: undefined }),
    'a hash that is none': both(
      (one) => ({ ...one, hash: noHash(one['hash']) }),
      (one) => ({ ...one, transactionHash: noHash(one['transactionHash']) }),
    ),
  };
  it('is not taken from an endpoint that shows what cannot be', async () => {
    const txHash = await signed(0, { type: 2, maxFeePerGas: 9n * GWEI, to: shop, value: 4n });
    const height = await chain.mine();
    for (const [wrong, fault] of Object.entries(WRONG)) {
      proxy.fault = fault;
      const failure = await readerOver(proxy.url)
        .scan(height, watched, signal)
        .catch((error: unknown) => error);
      expect(failure, wrong).to.be.instanceOf(RpcUnavailable);
    }
    const { sent } = there(await readerOver(chain.url).scan(height, watched, signal));
    expect(sent?.map((one) => one.txHash)).to.deep.equal([txHash]);
  });
});

function there<T>(value: T | undefined): T {
  return value ?? expect.fail('it is not there');
}
