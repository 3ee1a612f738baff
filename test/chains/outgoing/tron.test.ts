// What our own wallets send on Tron, in blocks of the double. What left a wallet is counted by its balance,
// before and after.
import { expect } from 'chai';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { changed, INFOS } from '../../../dev/tron/faults.ts';
import type { TronEndpoint, TronFault } from '../../../dev/tron/http/endpoint.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { AddressSet } from '../../../src/chains/address-set.ts';
import type { SentByUs } from '../../../src/chains/outgoing.ts';
import type { ScannedBlock } from '../../../src/chains/reader.ts';
import { RpcUnavailable } from '../../../src/chains/rpc/errors.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { parseTronJson } from '../../../src/chains/tron/block/exact-json.ts';
import { createBudget } from '../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../src/chains/tron/protocol.ts';
import { createTronReader } from '../../../src/chains/tron/reader.ts';
import { confirmInfos, fingerprintOf } from '../../../src/chains/tron/reads/confirm.ts';

const { signal } = new AbortController();
const [shop, alice] = ['c0', 'a1'].map((byte) => keyOfHex(byte.repeat(20))) as [
  ReturnType<typeof keyOfHex>,
  ReturnType<typeof keyOfHex>,
];
const spelled = TRON_ADDRESSES.format;
type Json = Record<string, unknown>;

describe('what our wallets send on Tron', function () {
  this.timeout(60_000);
  let node: TronNode;
  let second: TronEndpoint;
  let batch: Awaited<ReturnType<TronNode['deploy']>>;
  const watched = new AddressSet();
  before(async () => {
    node = await startTronNode({ solidDistance: 2 });
    second = await node.endpoint();
    batch = await node.deploy(testContracts().Payer, []);
    watched.add(wallet().address);
    watched.add(alice);
    watched.add(gas().address, 'gas');
    await node.usdt.call('transfer', [wallet().address, 1_000n]);
    await node.mine();
  });
  beforeEach(() => {
    node.fault = undefined;
  });
  after(() => node.stop());
  const wallet = () => there(node.accounts[1]);
  const gas = () => there(node.accounts[2]);

  const readerOf = (...urls: readonly string[]) => {
    const usdtContract = spelled(node.usdt.key);
    const genesis = createGenesis({ usdtContract, known: node.genesisId });
    const budget = createBudget({ perDay: 10_000_000, perSecond: 10_000 });
    const pool = createTronPool({ name: 'tron', urls, budget, genesis, parse: parseTronJson });
    const spareRequests = () => 1_000;
    return createTronReader({ pool, genesis, usdtContract, readsAllAgain: true, spareRequests });
  };
  const scanned = async (): Promise<ScannedBlock> =>
    there(await readerOf(node.url).scan(await node.mine(), watched, signal));
  const sunOf = async (): Promise<bigint> => {
    const address = `41${wallet().address}`;
    const { balance = 0 } = (await node.ask('wallet/getaccount', { address })) as { balance?: number };
    return BigInt(balance);
  };
  /** The wallet's one transaction in the next block; its fee is what is gone beside what it moved. */
  const told = async (send: Promise<string>, keeps = 0n): Promise<SentByUs> => {
    const before = await sunOf();
    const txHash = await send;
    const { sent = [], taken, fingerprint } = await scanned();
    expect([sent.length, taken, fingerprint]).to.eql([1, undefined, undefined]);
    const one = there(sent[0]);
    expect(one).to.deep.include({ txHash, from: spelled(wallet().address), nonce: null });
    const coins = one.moves.filter(({ currency }) => currency === 'TRX');
    const cost = coins.reduce((sum, { units }) => sum - units, before - keeps - (await sunOf()));
    expect(one.feeUnits, 'what it cost').to.equal(cost);
    return one;
  };

  it('is told with its fee and its receivers', async () => {
    const from = wallet();
    const coins = await told(node.pay({ to: shop, currency: 'TRX', units: 5n, from }));
    expect(coins).to.deep.include({ ok: true, moves: [{ to: spelled(shop), currency: 'TRX', units: 5n }] });
    expect(coins.feeUnits > 1_000_000n, 'the account is new').to.equal(true);
    const tokens = await told(node.pay({ to: shop, currency: 'USDT', units: 7n, from }));
    expect(tokens.moves).to.eql([{ to: spelled(shop), currency: 'USDT', units: 7n }]);
    const self = await told(node.pay({ to: from.address, currency: 'USDT', units: 7n, from }));
    expect([self.ok, self.moves]).to.eql([true, []]);
    const zero = await told(node.pay({ to: shop, currency: 'USDT', units: 0n, from }));
    expect([zero.ok, zero.moves]).to.eql([true, []]);
  });

  it('is told where a contract moved its tokens, or was brought TRX', async () => {
    const from = wallet();
    await told(node.usdt.call('approve', [batch.key, 1_000n], { from }));
    const args = [node.usdt.key, Array(3).fill(from.address), [shop, alice, shop], [1n, 20n, 300n]];
    const { moves } = await told(batch.call('pull', args, { from }));
    expect(moves).to.have.deep.members([
      { to: spelled(shop), currency: 'USDT', units: 301n },
      { to: spelled(alice), currency: 'USDT', units: 20n },
    ]);
    const call = node.trigger({ contract: batch.key, data: '', valueSun: 44n, from });
    expect((await told(call)).moves).to.eql([{ to: spelled(batch.key), currency: 'TRX', units: 44n }]);
    await node.mine();
    const height = node.head().header.number + 1;
    const heir = await node.deploy(testContracts().Heir, [shop, 0n, shop], { from, valueSun: 66n });
    const made = there(await readerOf(node.url).scan(height, watched, signal));
    expect(made.sent?.map((one) => one.moves)).to.eql([
      [{ to: spelled(heir.key), currency: 'TRX', units: 66n }],
    ]);
  });

  it('is told where it failed: its fee is gone, and nothing else', async () => {
    const from = wallet();
    const reverted = await told(node.pay({ to: shop, currency: 'USDT', units: 10n ** 9n, from }));
    expect([reverted.ok, reverted.moves, reverted.feeUnits > 0n]).to.eql([false, [], true]);
    const feeLimit = 500_000n;
    const starved = await told(node.pay({ to: shop, currency: 'USDT', units: 1n, from, feeLimit }));
    expect([starved.ok, starved.moves, starved.feeUnits >= feeLimit]).to.eql([false, [], true]);
    const value = { contract: node.usdt.key, data: '', valueSun: 9n, from };
    expect(await told(node.trigger(value))).to.deep.include({ ok: false, moves: [] });
  });

  it('is no deposit where it reaches a customer, and is told both ways, in both reads', async () => {
    const from = gas();
    const txHash = await node.pay({ to: wallet().address, currency: 'TRX', units: 8_000n, from });
    const first = await scanned();
    await node.mine(3);
    const again = there(await readerOf(node.url).scan(first.number, watched, signal));
    for (const { transfers, own, sent } of [first, again]) {
      expect([transfers, own?.map((one) => [one.txHash, one.amountUnits])]).to.eql([[], [[txHash, 8_000n]]]);
      const moves = [{ to: spelled(wallet().address), currency: 'TRX', units: 8_000n }];
      expect(sent?.map((one) => [one.from, one.moves])).to.eql([[spelled(from.address), moves]]);
    }
  });

  it('is told apart where somebody else’s transaction took it', async () => {
    await told(node.usdt.call('approve', [batch.key, 1_000n], { from: wallet() }));
    const args = [node.usdt.key, Array(2).fill(wallet().address), [shop, shop], [3n, 4n]];
    const txHash = await batch.call('pull', args);
    const { sent, taken, fingerprint } = await scanned();
    const one = { txHash, from: spelled(wallet().address), to: spelled(shop), currency: 'USDT', units: 7n };
    expect([sent, taken, fingerprint]).to.deep.equal([undefined, [one], undefined]);
  });

  it('is seen in the second read where the first one was shown no log of it', () => {
    const topics = ['ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'].concat(
      [wallet().address, shop].map((key) => key.padStart(64, '0')),
    );
    const log = { address: node.usdt.key, topics, data: '7'.padStart(64, '0') };
    const [id, token] = ['ab'.repeat(32), node.usdt.key];
    const quiet = { number: 9, hash: id, parentHash: id, timestampMs: 1, fingerprint: fingerprintOf([id]) };
    const isQuiet = (change: object): boolean | undefined => {
      const info = { id, blockNumber: 9, blockTimeStamp: 1, log: [{ ...log, ...change }] };
      return confirmInfos(quiet, [info], { token, watched })?.isQuiet;
    };
    expect(isQuiet({})).to.equal(false);
    expect(isQuiet({ topics: topics.map((topic) => topic.toUpperCase()) })).to.equal(false);
    expect(isQuiet({ data: '0'.repeat(64) }), 'anybody can move nothing').to.equal(true);
    expect(isQuiet({ address: batch.key }), 'another token').to.equal(true);
    expect(isQuiet({ topics: [topics[0], topics[2], topics[2]] }), 'another wallet').to.equal(true);
  });

  const inBodies = (change: (value: Json) => unknown): TronFault =>
    changed(['getblock', 'getblockbynum'], (block: Json) => {
      for (const { raw_data: raw } of (block['transactions'] ?? []) as { raw_data: Json }[])
        for (const { parameter } of raw['contract'] as { parameter: { value: Json } }[])
          change(parameter.value);
      return block;
    });
  const inInfos = (change: (info: Json) => object): TronFault =>
    changed(['gettransactioninfobyblocknum'], (infos: Json[]) =>
      Array.isArray(infos) ? infos.map(change) : infos,
    );
  const LIES: Readonly<Record<string, TronFault>> = {
    'another sender': inBodies((value) => Object.assign(value, { owner_address: `41${'5e'.repeat(20)}` })),
    'the contract as sender': inBodies((value) =>
      Object.assign(value, { owner_address: value['contract_address'] }),
    ),
    'no sender': inBodies((value) => delete value['owner_address']),
    'a sender in base58': inBodies((value) =>
      Object.assign(value, { owner_address: spelled(wallet().address) }),
    ),
    'no fee': inInfos(({ fee: _, ...info }) => info),
    'a fee that is too small': inInfos((info) => ({ ...info, fee: 1 })),
    'no log of what it moved': INFOS.withoutLogs,
    'the infos of another time': INFOS.ofAnotherTime,
  };
  it('is read elsewhere where an endpoint lies', async () => {
    const txHash = await node.pay({ to: shop, currency: 'USDT', units: 1n, from: wallet() });
    const height = await node.mine();
    for (const [lie, fault] of Object.entries(LIES)) {
      node.fault = fault;
      const alone = await readerOf(node.url)
        .scan(height, watched, signal)
        .catch((error: unknown) => error);
      expect(alone, lie).to.be.instanceOf(RpcUnavailable);
      const { sent } = there(await readerOf(node.url, second.url).scan(height, watched, signal));
      expect(
        sent?.map((one) => [one.txHash, one.moves.length]),
        lie,
      ).to.eql([[txHash, 1]]);
    }
  });
});

function there<T>(value: T | undefined): T {
  return value ?? expect.fail('it is not there');
}
