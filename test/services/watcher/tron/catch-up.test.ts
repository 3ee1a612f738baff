// A chain that was not read for a while, and one that is watched for the first time.
import { expect } from 'chai';
import { changed, INFOS, when } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { heal, paid, states } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

const BACKLOG = 120;
const EVERY = 10;

type Piece = { readonly block: readonly Record<string, unknown>[] };
const pieces = (change: (piece: Piece) => unknown): TronFault => changed(['getblockbylimitnext'], change);

/** What may be wrong with several blocks at a time. */
const PIECES: Readonly<Record<string, TronFault>> = {
  fail: when(
    ({ path }) => path.endsWith('getblockbylimitnext'),
    () => ({ status: 413, body: '' }),
  ),
  'are not there': pieces(() => ({})),
  'come with fewer blocks': pieces(({ block }) => ({ block: block.slice(0, 2) })),
  'come in another order': pieces(({ block }) => ({ block: block.toReversed() })),
  'hold a block of another height': pieces(({ block }) => ({
    block: block.map((one, at) => (at === 1 ? (block[0] ?? one) : one)),
  })),
  'hold a header alone': pieces(({ block }) => ({
    block: block.map(({ transactions: _, ...header }) => header),
  })),
  'hold something that is no block': pieces(({ block }) => ({ block: block.map(() => 'block') })),
};

describe('a backlog of Tron', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  afterEach(() => {
    heal(live);
    live.restart();
  });
  after(() => live?.stop());

  /** Payments in every tenth block of it; the watcher is away. */
  async function backlog(blocks: number): Promise<AddressKey[]> {
    const addresses: AddressKey[] = [];
    for (let made = 0; made < blocks; made += EVERY) {
      const { address } = await paid(live, { currency: made % 20 === 0 ? 'USDT' : 'TRX', units: 100n });
      addresses.push(address);
      await live.node.mine(EVERY - 1);
    }
    return addresses;
  }
  /** What was credited to them, each amount by itself. */
  const credited = async (addresses: readonly AddressKey[]): Promise<string[]> => {
    const all: string[] = [];
    for (const address of addresses) all.push(...states(await live.deposits(address)));
    return all.map((state) => state.replace(/ .*/, ''));
  };
  const hundreds = (addresses: readonly AddressKey[]): string[] => addresses.map(() => '100');

  it(`of ${BACKLOG} blocks is read with hardly more than a request a block, and nothing is missed`, async () => {
    await live.tryToCatchUp(1);
    const addresses = await backlog(BACKLOG);
    live.asked();
    await live.catchUp();
    const asked = live.asked();
    const withTransactions = BACKLOG / EVERY;
    const infos =
      (asked['walletsolidity/gettransactioninfobyblocknum'] ?? 0) +
      (asked['wallet/gettransactioninfobyblocknum'] ?? 0);
    const all = Object.values(asked).reduce((sum, count) => sum + count, 0);
    const heads = asked['wallet/getblock'] ?? 0;
    expect(infos).to.be.within(withTransactions, 2 * withTransactions);
    expect((all - heads - infos) / BACKLOG, 'bodies').to.be.below(0.4);
    expect(all / BACKLOG).to.be.below(1.1);
    expect(await credited(addresses)).to.deep.equal(hundreds(addresses));
    await live.finish();
    for (const address of addresses)
      expect(states(await live.deposits(address)).join()).to.match(/^100 \w+ verified$/);
  });

  for (const [name, fault] of Object.entries(PIECES)) {
    it(`is read block by block where several at a time ${name}`, async () => {
      const addresses = await backlog(50);
      live.endpoint.fault = fault;
      expect((await live.tryToCatchUp(4)).filter((reason) => reason !== 'not there yet').length).to.be.below(
        4,
      );
      expect(await credited(addresses)).to.deep.equal(hundreds(addresses));
      await live.node.mine(5);
      await live.tryToCatchUp(4);
      for (const address of addresses)
        expect(states(await live.deposits(address)).join()).to.match(/^100 \w+ verified$/);
    });
  }

  it('is not passed over where the infos of one of its blocks are of another one', async () => {
    const addresses = await backlog(30);
    await live.node.mine(30);
    live.endpoint.fault = INFOS.ofAnotherFork;
    await live.tryToCatchUp(2);
    expect(await credited(addresses)).to.deep.equal([]);
    heal(live);
    await live.tryToCatchUp(1);
    expect(await credited(addresses)).to.deep.equal(hundreds(addresses));
  });
});

describe('Tron that is watched for the first time', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
  });
  after(() => live?.stop());

  it('begins before the first address was made, by headers alone, and loses nothing that came since', async () => {
    await live.node.mine(120);
    const address = await live.newAddress();
    const head = live.node.head().header;
    // So that block 101 is the first that is no older than ten minutes before.
    const made = new Date(head.timestampMs - (head.number - 100) * 3_000 + 10 * 60_000 + 1_000);
    await live.rows('update deposit_addresses set created_at = ?', [made]);
    await live.node.pay({ to: address, currency: 'USDT', units: 5n });
    await live.node.mine(30);
    live.asked();
    await live.catchUp();
    const [cursor] = await live.rows('select first_block from chain_cursors');
    expect(Number(cursor?.['first_block'])).to.equal(101);
    const headers = live.endpoint.requests.filter(
      ({ path, body }) => path === 'wallet/getblock' && body['id_or_num'] !== undefined,
    );
    expect(headers.length).to.be.within(4, 20);
    expect(headers.every(({ body }) => body['detail'] === false)).to.equal(true);
    expect(states(await live.deposits(address))).to.deep.equal(['5 USDT verified']);
  });
});
