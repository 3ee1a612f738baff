// What an endpoint can make the watching of Tron spend, and what it can make it believe of finality.
import { expect } from 'chai';
import { when } from '../../../../dev/tron/faults.ts';
import type { TronAnswer } from '../../../../dev/tron/http/endpoint.ts';
import { heal, paid, STRANGER, states } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

const infos = (view: 'wallet' | 'walletsolidity' | undefined, answer: TronAnswer) =>
  when(
    (request) => request.path.endsWith('infobyblocknum') && (!view || request.view === view),
    () => answer,
  );

/**
 * Head, finality, a body, its infos, and a proof of the chain; without the order of blocks it was 26 and
 * more.
 */
const FEW = 16;

describe('what a block of Tron that cannot be read costs', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  beforeEach(() => {
    heal(live);
    live.restart();
  });
  after(() => live?.stop());
  const spent = (): number => Object.values(live.asked()).reduce((sum, count) => sum + count, 0);
  const busyBlocks = async (blocks: number): Promise<void> => {
    for (let mined = 0; mined < blocks; mined += 1) {
      await live.node.pay({ to: STRANGER, currency: 'TRX', units: 1n });
      await live.node.mine();
    }
  };

  for (const [name, answer] of Object.entries({
    'are not there': { json: [] },
    fail: { status: 500, body: '' },
  }))
    it(`is a few requests each time where the infos ${name}, however many blocks wait above it`, async () => {
      const { address } = await paid(live, { currency: 'USDT', units: 70n });
      await busyBlocks(20);
      live.endpoint.fault = infos(undefined, answer);
      await live.tryToCatchUp(1);
      for (let again = 0; again < 3; again += 1) {
        spent();
        await live.tryToCatchUp(1);
        expect(spent()).to.be.at.most(FEW);
      }
      heal(live);
      await live.tryToCatchUp(1);
      expect(states(await live.deposits(address))).to.deep.equal(['70 USDT verified']);
    });

  it('is as little where it is the second read that does not find them', async () => {
    await live.catchUp();
    await busyBlocks(20);
    live.endpoint.fault = infos('walletsolidity', { json: [] });
    await live.tryToCatchUp(1);
    spent();
    await live.tryToCatchUp(1);
    expect(spent()).to.be.at.most(FEW);
    heal(live);
    expect((await live.catchUp()).behind).to.equal(false);
  });
});

describe('a backlog of Tron whose blocks could not be had together', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  after(() => live?.stop());

  it('is read with several blocks in a request again, some time after that went wrong', async () => {
    const pieces = 'walletsolidity/getblockbylimitnext';
    live.endpoint.fault = when(
      ({ path }) => path === pieces,
      () => ({ status: 413, body: '' }),
    );
    await live.node.mine(70);
    await live.catchUp();
    const failed = live.asked()[pieces] ?? 0;
    expect(failed).to.be.within(4, 12);
    heal(live);
    await live.node.mine(30);
    await live.catchUp();
    expect(live.asked()[pieces] ?? 0, 'left alone for a while').to.equal(0);
    live.later(11 * 60_000);
    await live.node.mine(60);
    await live.catchUp();
    expect(live.asked()[pieces] ?? 0).to.be.within(1, 12);
  });
});

describe('a height of Tron that is named as final', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  beforeEach(() => heal(live));
  after(() => live?.stop());
  const solidHead = (answer: () => unknown) =>
    when(
      ({ path }) => path === 'walletsolidity/getnowblock',
      () => ({ json: answer() }),
    );

  it('delays what is read where it is far above the head, and no longer once it is right', async () => {
    const id = (number: number): string => number.toString(16).padStart(16, '0') + 'ab'.repeat(24);
    const number = 1_000_000_000;
    const raw = { number, timestamp: Date.now(), parentHash: id(number - 1) };
    live.endpoint.fault = solidHead(() => ({ blockID: id(number), block_header: { raw_data: raw } }));
    const { address } = await paid(live, { currency: 'TRX', units: 71n });
    await live.tryToCatchUp(1);
    expect(states(await live.deposits(address)), 'from what nothing can replace alone').to.deep.equal([]);
    await live.node.mine(6);
    await live.tryToCatchUp(1);
    expect(states(await live.deposits(address)).join()).to.match(/^71 TRX/);
    heal(live);
    const later = await paid(live, { currency: 'TRX', units: 72n });
    await live.tryToCatchUp(1);
    expect(states(await live.deposits(later.address))).to.deep.equal(['72 TRX']);
    await live.finish();
    expect(states(await live.deposits(later.address))).to.deep.equal(['72 TRX verified']);
    expect(states(await live.deposits(address))).to.deep.equal(['71 TRX verified']);
  });

  it('is asked for again by a command after an answer without one', async () => {
    const reader = live.newReader();
    const { signal } = new AbortController();
    const nobody = { has: () => false, isOwn: () => false };
    const number = live.node.solidHeight();
    live.endpoint.fault = solidHead(() => ({}));
    await reader.scan(number, nobody, signal);
    heal(live);
    live.asked();
    await reader.scan(number, nobody, signal);
    expect(live.asked()).to.include.keys('walletsolidity/getblockbynum');
  });
});

describe('a node of Tron that keeps no infos', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ others: 1 });
    await live.catchUp();
  });
  after(() => live?.stop());

  it('is not asked for those of every block where another one has them', async () => {
    live.endpoint.fault = infos('wallet', { json: [] });
    await paid(live, { currency: 'TRX', units: 73n });
    await live.catchUp();
    live.asked();
    for (let blocks = 0; blocks < 5; blocks += 1) {
      const { address } = await paid(live, { currency: 'USDT', units: 74n });
      await live.catchUp();
      expect(states(await live.deposits(address))).to.deep.equal(['74 USDT']);
    }
    expect(live.asked()).to.not.include.keys('wallet/gettransactioninfobyblocknum');
  });
});
