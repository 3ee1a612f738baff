// What a watcher remembers of blocks with something of ours, while nothing becomes final.
import { expect } from 'chai';
import { BSC_PACE } from '../../../../src/chains/bsc/pace.ts';
import {
  finalMayHaveMoved,
  type KnownFinal,
  learnFinal,
} from '../../../../src/services/watcher/heads/pace.ts';
import { stallingBsc } from '../../../actors/support/stalling.ts';
import { startTestWatcher, type TestWatcher } from '../test-watcher.ts';

const MINUTE_MS = 60_000;
const BLOCK_MS = 450;
const FINAL = 98;

describe('blocks of ours that wait to be final', () => {
  /** How often it is asked in a minute what is final, where that stays the same all the time. */
  function asksPerMinute(everyMs: number, headAt: (look: number) => number): number {
    let known: KnownFinal = learnFinal(undefined, { atMs: 0, number: FINAL, headNumber: FINAL + 2 });
    let asks = 0;
    const awaited = Array.from({ length: 300 }, (_, above) => FINAL + 1 + above);
    for (let look = 1; look * everyMs <= MINUTE_MS; look += 1) {
      const [nowMs, headNumber] = [look * everyMs, headAt(look)];
      if (!finalMayHaveMoved(BSC_PACE.final, known, { nowMs, headNumber, awaited })) continue;
      asks += 1;
      known = learnFinal(known, { atMs: nowMs, number: FINAL, headNumber });
    }
    return asks;
  }

  it('are asked about once for a head, where finality stands still', () => {
    expect(asksPerMinute(BLOCK_MS, (look) => FINAL + 2 + look)).to.be.at.most(MINUTE_MS / BLOCK_MS);
    expect(
      asksPerMinute(BSC_PACE.wholeLookMs, () => FINAL + 3),
      'where the head stands as well',
    ).to.be.at.most(60);
  });

  it('are asked about no more often where endpoints show several heads by turns', () => {
    const { closestMs } = BSC_PACE.head;
    const standing = (look: number): number => FINAL + 1 + (look % 3);
    expect(asksPerMinute(closestMs, standing)).to.be.at.most(MINUTE_MS / BLOCK_MS);
    const moving = (look: number): number =>
      FINAL + 2 + Math.floor((look * closestMs) / BLOCK_MS) - (look % 2);
    expect(asksPerMinute(closestMs, moving)).to.be.at.most((1.1 * MINUTE_MS) / BLOCK_MS);
  });
});

describe('what a watcher remembers while nothing becomes final', function () {
  this.timeout(120_000);
  let live: TestWatcher;
  before(async () => {
    live = await startTestWatcher();
  });
  after(() => live?.stop());

  it('does not grow without end, and is forgotten when blocks are final again', async () => {
    const address = await live.newAddress();
    await live.catchUp();
    const stalling = stallingBsc(live.chain, live.proxy);
    await stalling.final();
    for (let block = 0; block < 300; block += 1) {
      await live.chain.send({ to: address, valueUnits: 10n ** 15n });
      await live.chain.mine();
      if (block % 20 === 19) await live.catchUp();
    }
    await live.catchUp();
    const awaited = live.watchedChain.awaited ?? [];
    expect(awaited.length).to.be.within(100, 256);
    expect(awaited.at(-1), 'the newest are kept').to.equal(await live.chain.mine(0));
    stalling.heal();
    await live.finish();
    expect(live.watchedChain.awaited).to.deep.equal([]);
  });

  it('names each height once, however often its block is replaced', async () => {
    const address = await live.newAddress();
    await live.catchUp();
    for (let turn = 0; turn < 5; turn += 1) {
      await live.chain.send({ to: address, valueUnits: 10n ** 15n });
      await live.chain.mine();
      await live.catchUp();
      await live.chain.reorg(1);
      await live.catchUp();
    }
    const awaited = live.watchedChain.awaited ?? [];
    expect(new Set(awaited).size).to.equal(awaited.length);
  });
});
