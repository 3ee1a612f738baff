import { expect } from 'chai';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import type { KeyPair } from '../../../dev/tron/signing.ts';
import type { AddressKey } from '../../../src/chains/address-key.ts';
import { ALICE, type Answer, ask, prefixed } from './asking.ts';
import { recordedAs } from './recorded.ts';

const TRX = 1_000_000n;
const DAY_MS = 86_400_000;
const DEPTH = 6;
const MUCH = 1_000_000n;

describe('the energy of a stake on the double', function () {
  this.timeout(60_000);
  let node: TronNode;
  let owner: KeyPair;
  let bob: KeyPair;
  let carol: KeyPair;
  beforeEach(async () => {
    node = await startTronNode({ solidDistance: DEPTH });
    [, owner, bob, carol] = node.accounts as [KeyPair, KeyPair, KeyPair, KeyPair];
    for (const { address } of [owner, bob, carol]) await node.usdt.call('mint', [address, MUCH]);
    await node.usdt.call('mint', [ALICE, 1n]);
    await node.mine();
    await node.stake(owner.address, 300_000n * TRX);
  });
  afterEach(() => node?.stop());

  const move = (type: string, to: KeyPair, trx: bigint, more = {}): Promise<string> => {
    const value = { receiver_address: prefixed(to.address), resource: 'ENERGY', balance: trx * TRX, ...more };
    return node.send({ type, from: owner, value });
  };
  const lend = (to: KeyPair, trx: bigint, more = {}) => move('DelegateResourceContract', to, trx, more);
  const takeBack = (to: KeyPair, trx: bigint) => move('UnDelegateResourceContract', to, trx);
  const info = (value: string): Promise<Answer> => ask(node.url, 'wallet/gettransactioninfobyid', { value });
  const resources = (key: AddressKey, view = 'wallet'): Promise<Answer> =>
    ask(node.url, `${view}/getaccountresource`, { address: prefixed(key) });
  const account = ({ address }: KeyPair): Promise<Answer> =>
    ask(node.url, 'wallet/getaccount', { address: prefixed(address) });
  const lendable = ({ address }: KeyPair, view = 'wallet', type = 1): Promise<Answer> =>
    ask(node.url, `${view}/getcandelegatedmaxsize`, { owner_address: prefixed(address), type });
  const lent = (to: KeyPair, view = 'wallet'): Promise<Answer> =>
    ask(node.url, `${view}/getdelegatedresourcev2`, {
      fromAddress: prefixed(owner.address),
      toAddress: prefixed(to.address),
    });
  /** One transfer of a token in a block, as its receipt tells of it. */
  const transfer = async (from: KeyPair, more = {}): Promise<Answer> => {
    const id = await node.pay({ from, to: ALICE, currency: 'USDT', units: 1n, ...more });
    await node.mine();
    return await info(id);
  };

  it('is as much as was recorded for the same stakes and loans', async () => {
    await lend(bob, 50_000n);
    await lend(carol, 2_000n);
    await node.mine();
    await takeBack(bob, 20_000n);
    await node.mine();
    const [staked, delegated] = ['staked', 'delegated_to'].map((name) => ({
      resources: recordedAs(`wallet_getaccountresource__${name}`).response,
      account: recordedAs(`wallet_getaccount__${name}`).response,
    })) as [Answer, Answer];
    const figures = ({ EnergyLimit, TotalEnergyLimit, TotalEnergyWeight }: Answer) => ({
      EnergyLimit,
      TotalEnergyLimit,
      TotalEnergyWeight,
    });
    expect(figures(await resources(owner.address))).to.deep.equal(figures(staked.resources));
    expect(figures(await resources(bob.address))).to.deep.equal(figures(delegated.resources));
    const own = await account(owner);
    expect(own.frozenV2[1]).to.deep.equal(staked.account.frozenV2[1]);
    const inLoans = 'delegated_frozenV2_balance_for_energy';
    expect(own.account_resource[inLoans]).to.equal(staked.account.account_resource[inLoans]);
    const acquired = `acquired_${inLoans}`;
    expect((await account(bob)).account_resource[acquired]).to.equal(
      delegated.account.account_resource[acquired],
    );
    const { delegatedResource } = recordedAs('wallet_getdelegatedresourcev2').response;
    const [{ frozen_balance_for_energy }] = (await lent(bob)).delegatedResource;
    expect(frozen_balance_for_energy).to.equal(delegatedResource[0].frozen_balance_for_energy);
    const partly = recordedAs('wallet_gettransactioninfobyid__token_transfer_partly_staked_energy').response;
    expect((await resources(carol.address)).EnergyLimit).to.equal(partly.receipt.energy_usage);
  });

  it('pays for code before TRX is burned, and TRX for the rest', async () => {
    await lend(bob, 50_000n);
    await lend(carol, 1_000n);
    await node.mine();
    const { balance } = await account(bob);
    const whole = await transfer(bob);
    const { energy_usage_total: total } = whole.receipt;
    expect(whole.receipt).to.include({ energy_usage: total, result: 'SUCCESS' });
    expect(whole.receipt).to.not.have.property('energy_fee');
    expect((await account(bob)).balance).to.equal(balance);
    // Three seconds of a day later.
    expect((await resources(bob.address)).EnergyUsed).to.be.within(total - 2, total);

    const { energy_usage, energy_fee, energy_usage_total } = (await transfer(carol)).receipt;
    expect([energy_usage, energy_usage_total]).to.deep.equal([4_499, total]);
    expect(energy_fee).to.equal((total - 4_499) * 100);
  });

  it('costs its owner no TRX where somebody else has it', async () => {
    const { balance } = await account(owner);
    const id = await lend(bob, 50_000n);
    await node.mine();
    expect(await info(id)).to.not.have.any.keys('fee', 'result', 'contract_address');
    expect((await account(owner)).balance).to.equal(balance);
  });

  it('is not enough for a poor account whose loan is too small', async () => {
    const poor = { ...node.accounts[4] } as KeyPair;
    await node.usdt.call('mint', [poor.address, MUCH]);
    const { balance } = await account(poor);
    await node.pay({ to: ALICE, currency: 'TRX', units: TRX });
    await node.mine();
    await node.pay({ from: poor, to: ALICE, currency: 'TRX', units: BigInt(balance) - 1_000n * 100n });
    await lend(poor, 1_000n);
    // A day later its bytes are free again.
    await node.mine();
    await node.mine(1, DAY_MS);
    const failed = await transfer(poor);
    expect(failed.receipt).to.include({
      result: 'OUT_OF_ENERGY',
      energy_usage: 4_499,
      energy_fee: 100_000,
      energy_usage_total: 5_499,
    });
    expect(failed.result).to.equal('FAILED');
    expect((await account(poor)).balance ?? 0).to.equal(0);
  });

  it('is bounded by the fee limit, although it costs nothing', async () => {
    await lend(bob, 50_000n);
    await node.mine();
    const { receipt } = await transfer(bob, { feeLimit: 100_000n });
    expect(receipt).to.include({ result: 'OUT_OF_ENERGY', energy_usage: 1_000, energy_usage_total: 1_000 });
    expect(receipt).to.not.have.property('energy_fee');
  });

  it('comes back evenly in a day of the chain', async () => {
    await lend(bob, 50_000n);
    await node.mine();
    const { energy_usage: used } = (await transfer(bob)).receipt;
    await node.mine(1, DAY_MS / 2);
    const { EnergyUsed } = await resources(bob.address);
    expect(EnergyUsed).to.be.within(Math.floor(used / 2) - 2, Math.ceil(used / 2));
    await node.mine(1, DAY_MS / 2);
    expect(await resources(bob.address)).to.not.have.property('EnergyUsed');
  });

  it('is less when others stake more', async () => {
    await lend(bob, 50_000n);
    await node.mine();
    const before = (await resources(bob.address)).EnergyLimit;
    node.rules.energy.weight *= 100n;
    const { EnergyLimit, TotalEnergyWeight } = await resources(bob.address);
    expect(EnergyLimit).to.equal(Math.floor(before / 100));
    expect(TotalEnergyWeight).to.equal(4_000_030_000_000);
    expect((await transfer(bob)).receipt.energy_usage).to.equal(EnergyLimit);
    node.rules.energy.limit *= 2n;
    const { chainParameter } = await ask(node.url, 'wallet/getchainparameters');
    const told = chainParameter.find(({ key }: { key: string }) => key === 'getTotalEnergyCurrentLimit');
    expect(told.value).to.equal(360_000_000_000);
  });
  it('goes back to its owner at once, with its share of what was used', async () => {
    await lend(bob, 50_000n);
    await node.mine();
    const { energy_usage: used } = (await transfer(bob)).receipt;
    expect(await lendable(owner)).to.deep.equal({ max_size: 250_000_000_000 });
    await takeBack(bob, 20_000n);
    const share = (await resources(owner.address)).EnergyUsed;
    expect(share).to.be.within(Math.floor(used * 0.4) - 2, Math.ceil(used * 0.4));
    expect((await resources(bob.address)).EnergyUsed).to.be.within(used - share - 3, used - share);
    await takeBack(bob, 30_000n);
    await node.mine();
    expect(await lent(bob)).to.deep.equal({});
    expect(await resources(bob.address)).to.not.have.any.keys('EnergyLimit', 'EnergyUsed');
    const { EnergyUsed, EnergyLimit } = await resources(owner.address);
    expect(EnergyUsed).to.be.within(used - 4, used);
    expect(EnergyLimit).to.equal(1_349_989);
    expect((await transfer(bob)).receipt).to.not.have.property('energy_usage');
  });

  it('may be lent as far as it is not used', async () => {
    expect(await lendable(owner)).to.deep.equal({ max_size: 300_000_000_000 });
    const { energy_usage: used } = (await transfer(owner)).receipt;
    const { max_size } = await lendable(owner);
    expect(max_size).to.be.within(299_999_000_000 - Math.ceil(used / 4.49) * 1e6, 300_000_000_000);
    expect(max_size).to.be.lessThan(300_000_000_000 - Math.floor(used / 4.51) * 1e6);
    for (const none of [await lendable(bob), await lendable(owner, 'wallet', 0)])
      expect(none).to.deep.equal({});
    const whole = node.send({
      type: 'DelegateResourceContract',
      from: owner,
      value: { receiver_address: prefixed(bob.address), resource: 'ENERGY', balance: BigInt(max_size) },
    });
    await whole;
    expect(await lendable(owner)).to.deep.equal({});
  });

  it('is lent for certain where the block is irreversible, and not before', async () => {
    await lend(bob, 50_000n);
    await node.mine();
    const final = 'walletsolidity';
    const seen = async () => [
      (await resources(bob.address, final)).EnergyLimit,
      (await lendable(owner, final)).max_size,
      (await lent(bob, final)).delegatedResource?.length,
    ];
    expect(await seen()).to.deep.equal([undefined, 300_000_000_000, undefined]);
    expect((await resources(bob.address)).EnergyLimit).to.equal(224_998);
    await node.mine(DEPTH);
    expect(await seen()).to.deep.equal([224_998, 250_000_000_000, 1]);
  });

  it('is lent no more where a fork takes the block away, and is the owner’s all the same', async () => {
    await lend(bob, 50_000n);
    await node.mine();
    await node.replace(1);
    expect(await resources(bob.address)).to.not.have.property('EnergyLimit');
    expect(await lent(bob)).to.deep.equal({});
    expect(await lendable(owner)).to.deep.equal({ max_size: 300_000_000_000 });
  });
});
