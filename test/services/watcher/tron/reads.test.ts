// Which blocks of Tron are read how often: at the head, when final, in a backlog.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import { changed, INFOS, when } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { cursorOf } from '../asked.ts';
import { paid, STRANGER, states, tronStage } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

const INFOS_OF = 'walletsolidity/gettransactioninfobyblocknum';
const BODY_OF = 'walletsolidity/getblockbynum';
const EVERY = 10;

type Piece = { readonly block: readonly Record<string, unknown>[] };
const pieces = (change: (piece: Piece) => unknown): TronFault => changed(['getblockbylimitnext'], change);

/** What may be wrong with several blocks at a time. */
const PIECES: Readonly<Record<string, TronFault>> = {
  'come with fewer blocks': pieces(({ block }) => ({ block: block.slice(0, 2) })),
  'come in another order': pieces(({ block }) => ({ block: block.toReversed() })),
  'hold a header alone': pieces(({ block }) => ({
    block: block.map(({ transactions: _, ...header }) => header),
  })),
};

describe('the reads of Tron', () => {
  const live = tronStage();
  beforeEach(async () => {
    await live.catchUp();
  });
  const strangersBlocks = async (count: number): Promise<void> => {
    for (let mined = 0; mined < count; mined += 1) {
      await live.node.pay({ to: STRANGER, currency: 'TRX', units: 1n });
      await live.node.mine();
    }
  };
  /** What was asked while all that is final was read. */
  const askedToCatchUp = async () => {
    live.asked();
    await live.catchUp();
    return live.asked();
  };
  const credited = async (addresses: readonly AddressKey[]): Promise<string[]> =>
    (await Promise.all(addresses.map((address) => live.deposits(address)))).flatMap(states);

  it('take a block whole again that touched us, and verify what it holds', async () => {
    await strangersBlocks(4);
    const { address } = await paid(live, { currency: 'USDT', units: 6n });
    await live.catchUp();
    expect(await credited([address])).to.deep.equal(['6 USDT']);
    await strangersBlocks(4);
    expect((await askedToCatchUp())[BODY_OF]).to.equal(1);
    expect(await credited([address])).to.deep.equal(['6 USDT verified']);
  });

  it('find TRX that a contract passed on and the first answer did not show, where nothing names our address', async () => {
    const address = await live.newAddress();
    // The receiver is kept by the code, and no call names it.
    const heir = await live.node.deploy(testContracts().Heir, [STRANGER, 0n, address]);
    await live.node.trigger({ contract: heir.key, data: '', valueSun: 500n });
    await live.finish();
    live.endpoint.fault = when(({ view }) => view === 'wallet', INFOS.withoutInternals);
    await heir.call('pay', [8n]);
    await live.node.mine();
    await live.catchUp();
    expect(await live.deposits(address)).to.deep.equal([]);
    const { foundLate } = live.seen;
    await live.finish();
    expect(await credited([address])).to.deep.equal(['8 TRX verified']);
    expect(live.seen.foundLate - foundLate).to.equal(1);
  });

  it('keep a deposit that came to lie in a quiet block between them', async () => {
    const { address, txHash, number } = await paid(live, { currency: 'TRX', units: 10n });
    await live.catchUp();
    // As if the block had been read before the address was known, and the deposit recorded by a rescan.
    const fingerprint = createHash('sha256').update(txHash).digest('hex');
    await live.rows('update chain_blocks set fingerprint = ? where number = ?', [fingerprint, number]);
    await live.finish();
    expect(await credited([address])).to.deep.equal(['10 TRX verified']);
  });

  /** Payments in every tenth block of it; the watcher is away. */
  async function backlog(blocks: number): Promise<AddressKey[]> {
    const addresses: AddressKey[] = [];
    for (let made = 0; made < blocks; made += EVERY) {
      addresses.push((await paid(live, { currency: 'USDT', units: 100n })).address);
      await live.node.mine(EVERY - 1);
    }
    return addresses;
  }

  for (const [name, fault] of Object.entries(PIECES))
    it(`of a backlog are block by block where several at a time ${name}`, async () => {
      const addresses = await backlog(30);
      live.endpoint.fault = fault;
      await live.node.mine(5);
      const failures = await live.tryToCatchUp(6);
      expect(failures.filter((reason) => reason !== 'not there yet')).to.have.length.below(4);
      expect(await credited(addresses)).to.deep.equal(addresses.map(() => '100 USDT verified'));
    });
});

describe('the second read of Tron within a small budget', () => {
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ readsAllAgain: false });
  });
  after(() => live?.stop());

  it('begins before the first address was made, and asks again for blocks that touch us alone', async () => {
    await live.node.mine(120);
    const address = await live.newAddress();
    const head = live.node.head().header;
    // So that block 101 is the first that is no older than ten minutes before.
    const made = new Date(head.timestampMs - (head.number - 100) * 3_000 + 10 * 60_000 + 1_000);
    await live.rows('update deposit_addresses set created_at = ?', [made]);
    await live.node.pay({ to: address, currency: 'USDT', units: 5n });
    await live.node.mine(30);
    await live.catchUp();
    expect(await cursorOf(live)).to.include({ first_block: '101' });
    expect(states(await live.deposits(address))).to.deep.equal(['5 USDT verified']);
    await live.node.pay({ to: STRANGER, currency: 'USDT', units: 5n });
    await live.node.mine();
    const ours = await paid(live, { currency: 'USDT', units: 6n });
    await live.catchUp();
    await live.node.mine(4);
    live.asked();
    await live.catchUp();
    expect(live.asked()).to.include({ [BODY_OF]: 1, [INFOS_OF]: 1 });
    expect(states(await live.deposits(ours.address))).to.deep.equal(['6 USDT verified']);
  });
});
