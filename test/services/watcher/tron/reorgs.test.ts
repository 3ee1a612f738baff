// Two endpoints of Tron of which one stands on blocks that were replaced, or names others as final. What
// becomes of replaced blocks on every chain: `../either.test.ts`.
import { expect } from 'chai';
import { changed, hasty, when } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { cursorOf, verifiedOf } from '../asked.ts';
import { advanced, heal, paid, remembered, secondOf, states, tronStage } from './scenes.ts';

/** Names another block as final at the height of the node's own. */
const elsewhere: TronFault = when(
  ({ view }) => view === 'walletsolidity',
  changed(['getnowblock'], (block: { readonly blockID: string }) => ({
    ...block,
    blockID: block.blockID.slice(0, 16) + '7'.repeat(48),
  })),
);

describe('two endpoints of Tron that do not agree', () => {
  const live = tronStage({ solidDistance: 10, others: 1 });
  beforeEach(async () => {
    await live.finish();
  });
  /** What stands; the node's blocks are mined faster than their times pass, which is no matter here. */
  const stops = async (): Promise<Record<string, { reason: string }>> => {
    const { 'block time': _, ...others } = (await cursorOf(live))['stops'] as Awaited<
      ReturnType<typeof stops>
    >;
    return others;
  };
  /** Until everything is well again, and all that was paid is final and confirmed. */
  const settle = async (): Promise<void> => {
    heal(live);
    live.later(61_000);
    await live.node.mine(25);
    await live.tryToCatchUp(4);
  };

  it('complete nothing before both call it final, where one calls its newest block so', async () => {
    live.endpoint.fault = hasty(live.node);
    const { address } = await paid(live, { currency: 'TRX', units: 300n });
    await live.node.mine(3);
    await live.catchUp();
    expect(states(await live.deposits(address))).to.deep.equal(['300 TRX']);
    expect(await verifiedOf(live)).to.be.at.most(live.node.solidHeight());
    await settle();
    expect(await advanced(live, address)).to.deep.equal(['completed']);
  });

  it('stop what is verified, and say why, where one names a block that the chain does not have', async () => {
    const before = await verifiedOf(live);
    secondOf(live).fault = elsewhere;
    const { address } = await paid(live, { currency: 'USDT', units: 301n });
    await live.node.mine(25);
    expect((await live.tryToCatchUp(2)).join()).to.match(/contradict/);
    expect(await verifiedOf(live)).to.equal(before);
    expect((await stops())['roll-back']?.reason)
      .to.match(/^two endpoints of tron contradict each other: /)
      .and.include(new URL(secondOf(live).url).host);
    expect(await advanced(live, address), 'it is announced, and waits').to.deep.equal(['confirming']);
    await settle();
    expect(await stops()).to.deep.equal({});
    expect(await advanced(live, address)).to.deep.equal(['completed']);
  });

  it('complete no orphan of a branch that one alone has, and calls final to its tip', async () => {
    const orphan = await paid(live, { currency: 'USDT', units: 302n });
    await live.node.mine(3);
    await live.catchUp();
    const old = await remembered(live);
    live.endpoint.fault = ({ path, body }) => ({
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
});
