import { expect } from 'chai';
import { startTronNode } from '../../../dev/tron/node.ts';
import type { KeyPair } from '../../../dev/tron/signing.ts';
import { type Answer, ask, prefixed } from './asking.ts';
import { recordedAs } from './recorded.ts';

const TRX = 1_000_000n;
const recorded = (name: string): Answer => recordedAs(`wallet_${name}`).response;

describe('the energy of a stake on the double', () => {
  it('is as much as was recorded for the same stakes and loans', async () => {
    const node = await startTronNode();
    const [, owner, bob, carol] = node.accounts as [KeyPair, KeyPair, KeyPair, KeyPair];
    const move = async (type: string, to: KeyPair, trx: bigint): Promise<void> => {
      const value = { receiver_address: prefixed(to.address), resource: 'ENERGY', balance: trx * TRX };
      await node.send({ type, from: owner, value });
      await node.mine();
    };
    const told = (path: string, { address }: KeyPair): Promise<Answer> =>
      ask(node.url, `wallet/${path}`, { address: prefixed(address) });
    try {
      await node.stake(owner.address, 300_000n * TRX);
      await move('DelegateResourceContract', bob, 50_000n);
      await move('DelegateResourceContract', carol, 2_000n);
      await move('UnDelegateResourceContract', bob, 20_000n);

      const figures = ({ EnergyLimit, TotalEnergyLimit, TotalEnergyWeight }: Answer) => [
        EnergyLimit,
        TotalEnergyLimit,
        TotalEnergyWeight,
      ];
      const [own, lent] = [await told('getaccountresource', owner), await told('getaccountresource', bob)];
      expect(figures(own)).to.deep.equal(figures(recorded('getaccountresource__staked')));
      expect(figures(lent)).to.deep.equal(figures(recorded('getaccountresource__delegated_to')));
      const partly = recorded('gettransactioninfobyid__token_transfer_partly_staked_energy');
      const { EnergyLimit } = await told('getaccountresource', carol);
      expect(EnergyLimit).to.equal(partly.receipt.energy_usage);
    } finally {
      await node.stop();
    }
  });
});
