// What an endpoint can make the watching of Tron spend, and what it can make it believe of finality.
import { expect } from 'chai';
import { when } from '../../../../dev/tron/faults.ts';
import type { TronAnswer } from '../../../../dev/tron/http/endpoint.ts';
import { heal, paid, STRANGER, states, tronStage } from './scenes.ts';

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

describe('what an endpoint can make the watching of Tron spend', () => {
  const live = tronStage();
  const spent = (): number => Object.values(live.asked()).reduce((sum, count) => sum + count, 0);
  const busyBlocks = async (blocks: number): Promise<void> => {
    for (let mined = 0; mined < blocks; mined += 1) {
      await live.node.pay({ to: STRANGER, currency: 'TRX', units: 1n });
      await live.node.mine();
    }
  };

  it('is a few requests each time where the infos are not there, however many blocks wait above it', async () => {
    const { address } = await paid(live, { currency: 'USDT', units: 70n });
    await busyBlocks(20);
    live.endpoint.fault = infos(undefined, { json: [] });
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

  it('is paid back by a backlog that is read with several blocks in a request again, some time after that went wrong', async () => {
    const pieces = 'walletsolidity/getblockbylimitnext';
    live.endpoint.fault = when(
      ({ path }) => path === pieces,
      () => ({ status: 413, body: '' }),
    );
    await live.node.mine(70);
    live.asked();
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
