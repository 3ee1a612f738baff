import { expect } from 'chai';
import { startTronNode } from '../../../dev/tron/node.ts';
import type { KeyPair } from '../../../dev/tron/signing.ts';
import { type Answer, ask, prefixed } from './asking.ts';
import { recordedAs } from './recorded.ts';

const TRX = 1_000_000n;
const recorded = (name: string): Answer => recordedAs(`wallet_${name}`).response;
const IN_LOANS = 'delegated_frozenV2_balance_for_energy';

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

      const [account, staked] = [await told('getaccount', owner), recorded('getaccount__staked')];
      expect(account.frozenV2[1]).to.deep.equal(staked.frozenV2[1]);
      expect(account.account_resource[IN_LOANS]).to.equal(staked.account_resource[IN_LOANS]);
      const { account_resource: acquired } = await told('getaccount', bob);
      const before = recorded('getaccount__delegated_to').account_resource;
      expect(acquired[`acquired_${IN_LOANS}`]).to.equal(before[`acquired_${IN_LOANS}`]);
      const between = { fromAddress: prefixed(owner.address), toAddress: prefixed(bob.address) };
      const { delegatedResource: loans } = await ask(node.url, 'wallet/getdelegatedresourcev2', between);
      const [loan] = recorded('getdelegatedresourcev2').delegatedResource;
      expect(loans[0].frozen_balance_for_energy).to.equal(loan.frozen_balance_for_energy);
    } finally {
      await node.stop();
    }
  });
});
