import { expect } from 'chai';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import type { KeyPair } from '../../../dev/tron/signing.ts';
import { ALICE, type Answer, ask, infoOf, prefixed } from './asking.ts';
import { recordedAs } from './recorded.ts';

const TRX = 1_000_000n;
const WHOLE = 300_000n;

describe('the energy of a stake on the double', function () {
  this.timeout(60_000);
  let node: TronNode;
  let owner: KeyPair;
  let bob: KeyPair;
  let carol: KeyPair;
  beforeEach(async () => {
    node = await startTronNode();
    [, owner, bob, carol] = node.accounts as [KeyPair, KeyPair, KeyPair, KeyPair];
    for (const { address } of [owner, bob, carol]) await node.usdt.call('mint', [address, TRX]);
    await node.usdt.call('mint', [ALICE, 1n]);
    await node.mine();
    await node.stake(owner.address, WHOLE * TRX);
  });
  afterEach(() => node?.stop());

  const move = (type: string, to: KeyPair, balance: bigint): Promise<string> => {
    const value = { receiver_address: prefixed(to.address), resource: 'ENERGY', balance };
    return node.send({ type, from: owner, value });
  };
  /** In TRX, in a block of its own. */
  const lend = async (to: KeyPair, trx: bigint): Promise<string> => {
    const id = await move('DelegateResourceContract', to, trx * TRX);
    await node.mine();
    return id;
  };
  const resources = ({ address }: KeyPair): Promise<Answer> =>
    ask(node.url, 'wallet/getaccountresource', { address: prefixed(address) });
  const account = ({ address }: KeyPair): Promise<Answer> =>
    ask(node.url, 'wallet/getaccount', { address: prefixed(address) });
  /** One transfer of a token in a block, as its info tells of it. */
  const transfer = async (from: KeyPair, more = {}): Promise<Answer> => {
    const id = await node.pay({ from, to: ALICE, currency: 'USDT', units: 1n, ...more });
    await node.mine();
    return await infoOf(node, id);
  };

  it('is as much as was recorded for the same stakes and loans', async () => {
    await lend(bob, 50_000n);
    await lend(carol, 2_000n);
    await move('UnDelegateResourceContract', bob, 20_000n * TRX);
    await node.mine();
    const recorded = (name: string): Answer => recordedAs(`wallet_${name}`).response;
    const figures = ({ EnergyLimit, TotalEnergyLimit, TotalEnergyWeight }: Answer) => ({
      EnergyLimit,
      TotalEnergyLimit,
      TotalEnergyWeight,
    });
    for (const [who, name] of [
      [owner, 'staked'],
      [bob, 'delegated_to'],
    ] as const)
      expect(figures(await resources(who)), name).to.deep.equal(
        figures(recorded(`getaccountresource__${name}`)),
      );
    const [own, staked] = [await account(owner), recorded('getaccount__staked')];
    expect(own.frozenV2[1]).to.deep.equal(staked.frozenV2[1]);
    const inLoans = 'delegated_frozenV2_balance_for_energy';
    expect(own.account_resource[inLoans]).to.equal(staked.account_resource[inLoans]);
    const { account_resource: acquired } = recorded('getaccount__delegated_to');
    const name = `acquired_${inLoans}`;
    expect((await account(bob)).account_resource[name]).to.equal(acquired[name]);
    const { delegatedResource } = recorded('getdelegatedresourcev2');
    const between = { fromAddress: prefixed(owner.address), toAddress: prefixed(bob.address) };
    const { delegatedResource: lent } = await ask(node.url, 'wallet/getdelegatedresourcev2', between);
    const units = 'frozen_balance_for_energy';
    expect(lent[0][units]).to.equal(delegatedResource[0][units]);
    const partly = recorded('gettransactioninfobyid__token_transfer_partly_staked_energy');
    expect((await resources(carol)).EnergyLimit).to.equal(partly.receipt.energy_usage);
  });

  it('pays for code before TRX is burned, and TRX for the rest; lending it costs its owner none', async () => {
    const before = (await account(owner)).balance;
    const loan = await lend(bob, 50_000n);
    expect(await infoOf(node, loan)).to.not.have.any.keys('fee', 'result', 'contract_address');
    expect((await account(owner)).balance).to.equal(before);
    await lend(carol, 1_000n);
    const { balance } = await account(bob);
    const { receipt } = await transfer(bob);
    const { energy_usage_total: total } = receipt;
    expect(receipt)
      .to.include({ energy_usage: total, result: 'SUCCESS' })
      .and.not.have.property('energy_fee');
    expect((await account(bob)).balance).to.equal(balance);
    const rest = { energy_usage: 4_499, energy_usage_total: total, energy_fee: (total - 4_499) * 100 };
    expect((await transfer(carol)).receipt).to.include(rest);
  });
});
