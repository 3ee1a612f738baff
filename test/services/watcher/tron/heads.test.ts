// Nodes that lag, go back or stand still: balancers ask another node at each request.
import { expect } from 'chai';
import { everyNth, lag, solidBack } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { readiness } from '../../../../src/app/health.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { standstills } from '../../../../src/services/operations/conditions/chain.ts';
import { advanced, paid, states, tronStage, watching } from './scenes.ts';

const MINUTE_MS = 60_000;

describe('a node of Tron that is behind', () => {
  let laterMs = 0;
  const live = tronStage({ now: () => new Date(Date.now() + laterMs) });
  /** Three blocks behind, wherever the head is. */
  const behind: TronFault = (request, answer) =>
    lag(live.node, live.node.head().header.number - 3)(request, answer);

  it('at every third answer loses and doubles nothing', async () => {
    live.endpoint.fault = everyNth(3, behind);
    const addresses: AddressKey[] = [];
    for (let payments = 0; payments < 4; payments += 1) {
      const { address } = await paid(live, { currency: payments % 2 ? 'TRX' : 'USDT', units: 60n });
      addresses.push(address);
      await live.tryToCatchUp(3);
    }
    for (let blocks = 0; blocks < 6; blocks += 1) {
      await live.node.mine();
      await live.tryToCatchUp(3);
    }
    live.endpoint.fault = undefined;
    await live.finish();
    for (const address of addresses)
      expect(states(await live.deposits(address)).join()).to.match(/^60 \w+ verified$/);
  });

  it('lets deposits wait while what is final stands still; they are told after minutes, and complete by themselves', async () => {
    const { address } = await paid(live, { currency: 'USDT', units: 62n });
    await live.catchUp();
    live.endpoint.fault = solidBack(live.node, { at: live.node.solidHeight() });
    await live.node.mine(110);
    await live.catchUp();
    expect(await advanced(live, address)).to.deep.equal(['confirming']);
    laterMs = 4 * MINUTE_MS;
    await live.node.mine();
    await live.catchUp();
    const told = await standstills(live.deps);
    expect(told.map(({ network, part }) => `${network} ${part}`)).to.include('tron finality');
    expect(told.find(({ part }) => part === 'finality')?.reason).to.match(/name none after \d+ as final/);
    const { reasons } = await readiness(watching(live), new Date(0));
    expect(reasons.join()).to.match(/tron.* name none after \d+ as final/);
    live.endpoint.fault = undefined;
    await live.catchUp();
    expect(await standstills(live.deps)).to.deep.equal([]);
    expect(await advanced(live, address)).to.deep.equal(['completed']);
    expect(await readiness(watching(live), new Date(0))).to.include({ ready: true });
  });
});
