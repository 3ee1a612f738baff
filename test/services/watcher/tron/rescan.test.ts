// Blocks of Tron that are read again because an operator says so.
import { expect } from 'chai';
import { INFOS } from '../../../../dev/tron/faults.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { forgetDeposit } from '../../reconciliation/support.ts';
import { readAgain } from '../asked.ts';
import { paid, STRANGER, secondOf, states, tronStage } from './scenes.ts';

describe('a rescan of Tron', () => {
  const live = tronStage({ others: 1 });
  const again = (from: number, to = from) => readAgain(live, from, to);
  const stateOf = async (address: AddressKey) => states(await live.deposits(address));

  it('does not believe infos of another block, and has the patience to ask again', async () => {
    await live.node.pay({ to: STRANGER, currency: 'USDT', units: 1n });
    const { address, txHash, number } = await paid(live, { currency: 'USDT', units: 114n });
    await live.finish();
    await forgetDeposit(live, txHash);
    let wrong = 0;
    for (const one of [live.endpoint, secondOf(live)])
      one.fault = async (request, answer) => {
        const changed = wrong < 3 ? await INFOS.inAnotherOrder(request, answer) : undefined;
        wrong += changed ? 1 : 0;
        return changed;
      };
    expect(await again(number)).to.deep.equal({ blocks: 1, found: 1 });
    expect(wrong).to.equal(3);
    expect(await stateOf(address)).to.deep.equal(['114 USDT verified']);
  });
});
