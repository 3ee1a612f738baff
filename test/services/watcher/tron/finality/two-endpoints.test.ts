// What is final decides what is credited, and two endpoints may name different blocks.
import { expect } from 'chai';
import { changed, hasty, when } from '../../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../../dev/tron/http/endpoint.ts';
import { advanced, heal, paid, remembered, secondOf, states } from '../scenes.ts';
import { startTronWatcher, type TronWatcher } from '../tron-watcher.ts';

const FINAL_BEHIND = 10;

/** Names another block as final at the height of the node's own. */
const elsewhere: TronFault = when(
  ({ view }) => view === 'walletsolidity',
  changed(['getnowblock'], (block: { readonly blockID: string }) => ({
    ...block,
    blockID: block.blockID.slice(0, 16) + '7'.repeat(48),
  })),
);

describe('what one of two endpoints of Tron names as final', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ solidDistance: FINAL_BEHIND, others: 1 });
    await live.catchUp();
  });
  beforeEach(async () => {
    heal(live);
    live.restart();
    await live.finish();
  });
  after(() => live?.stop());
  const verified = async (): Promise<number> =>
    Number((await live.rows('select verified_number from chain_cursors'))[0]?.['verified_number']);
  const stops = async (): Promise<Record<string, { reason: string }>> =>
    ((await live.rows('select stops from chain_cursors'))[0] as { stops: Record<string, { reason: string }> })
      .stops;
  const endpointOf = (which: 'first' | 'other') => (which === 'first' ? live.endpoint : secondOf(live));
  /** Until everything is well again, and all that was paid is final and confirmed. */
  const settle = async (): Promise<void> => {
    heal(live);
    live.later(61_000);
    await live.node.mine(25);
    await live.tryToCatchUp(4);
  };

  for (const which of ['first', 'other'] as const) {
    it(`is not final before the second one names it, where the ${which} one calls its newest block so`, async () => {
      endpointOf(which).fault = hasty(live.node);
      const { address } = await paid(live, { currency: 'TRX', units: 300n });
      await live.node.mine(3);
      await live.catchUp();
      expect(states(await live.deposits(address))).to.deep.equal(['300 TRX']);
      expect(await verified()).to.be.at.most(live.node.solidHeight());
      await settle();
      expect(await advanced(live, address)).to.deep.equal(['completed']);
    });

    it(`stops what is verified, and says why, where the ${which} one names a block that the chain does not have`, async () => {
      const before = await verified();
      endpointOf(which).fault = elsewhere;
      const { address } = await paid(live, { currency: 'USDT', units: 301n });
      await live.node.mine(25);
      const failures = await live.tryToCatchUp(2);
      expect(failures.join()).to.match(/contradict/);
      expect(await verified()).to.equal(before);
      const reason = (await stops())['roll-back']?.reason;
      expect(reason).to.match(/^two endpoints of tron contradict each other: /);
      expect(reason).to.include(new URL(endpointOf(which).url).host);
      expect(await advanced(live, address), 'it is announced, and waits').to.deep.equal(['confirming']);
      await settle();
      expect(await stops()).to.deep.equal({});
      expect(await advanced(live, address)).to.deep.equal(['completed']);
    });

    it(`completes no orphan of a branch that the ${which} one alone has, and calls final to its tip`, async () => {
      const orphan = await paid(live, { currency: 'USDT', units: 302n });
      await live.node.mine(3);
      await live.catchUp();
      const old = await remembered(live);
      endpointOf(which).fault = ({ path, body }) => ({
        json: old(path.replace(/^walletsolidity/, 'wallet'), body),
      });
      await live.node.restart();
      const good = await paid(live, { currency: 'TRX', units: 303n });
      await live.node.mine(4);
      for (let looks = 0; looks < 6; looks += 1) {
        await live.tryToCatchUp(2);
        expect(await advanced(live, orphan.address), `after look ${looks}`).not.to.include('completed');
        await live.node.mine();
      }
      await settle();
      expect(await advanced(live, orphan.address)).to.deep.equal(['failed']);
      expect(await advanced(live, good.address)).to.deep.equal(['completed']);
    });
  }
});
