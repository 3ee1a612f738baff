import { expect } from 'chai';
import { type Answer, ask, prefixed } from './asking.ts';
import { recordedAs } from './recorded.ts';
import { shapeOf } from './shape.ts';
import { makeWorld, type World } from './world.ts';

const shapeOfRecorded = (name: string): unknown => shapeOf(recordedAs(name).response);

describe('what waits on the double for the next block', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await makeWorld();
  });
  after(() => world?.node.stop());

  const see = async (path: string, body: object = {}): Promise<Answer> => {
    const { url, solidityUrl } = world.node;
    return await ask(path.startsWith('walletsolidity') ? solidityUrl : url, path, body);
  };
  const tokensOf = async (owner: string): Promise<bigint> => {
    const answer = await see('wallet/triggerconstantcontract', {
      owner_address: prefixed(world.people.alice.address),
      contract_address: prefixed(world.token.key),
      function_selector: 'balanceOf(address)',
      parameter: owner.padStart(64, '0'),
    });
    return BigInt(`0x${answer.constant_result[0]}`);
  };

  it('is shown by the full node as if it had happened, and by its infos not at all', async () => {
    const { node, people, token } = world;
    const { grace } = people;
    const account = { address: prefixed(grace.address) };
    const before = (await see('wallet/getaccount', account)).balance;
    const value = await node.pay({ from: people.bob, to: grace.address, currency: 'TRX', units: 7_000_000n });
    const byToken = await token.call('transfer', [grace.address, 5n], { from: people.alice });

    expect(shapeOf(await see('wallet/gettransactionbyid', { value }))).to.deep.equal(
      shapeOfRecorded('wallet_gettransactionbyid__pending'),
    );
    expect(shapeOf(await see('wallet/gettransactionbyid', { value: byToken }))).to.deep.equal(
      shapeOfRecorded('wallet_gettransactionbyid__pending_token'),
    );
    expect(shapeOf(await see('wallet/gettransactionfrompending', { value }))).to.deep.equal(
      shapeOfRecorded('wallet_gettransactionfrompending__pending'),
    );
    expect((await see('wallet/gettransactionlistfrompending')).txId).to.deep.equal([value, byToken]);
    expect(shapeOf(await see('wallet/getpendingsize'))).to.deep.equal(
      shapeOfRecorded('wallet_getpendingsize'),
    );
    expect((await see('wallet/getaccount', account)).balance).to.equal(before + 7_000_000);
    expect(await tokensOf(grace.address)).to.equal(5n);

    expect(await see('wallet/gettransactioninfobyid', { value })).to.deep.equal({});
    expect(await see('walletsolidity/gettransactionbyid', { value })).to.deep.equal({});
    expect((await see('walletsolidity/getaccount', account)).balance).to.equal(before);

    await node.mine();
    expect(await see('wallet/gettransactionfrompending', { value })).to.deep.equal({});
    expect(await see('wallet/gettransactioninfobyid', { value })).to.include({ id: value });
    expect(await see('walletsolidity/gettransactioninfobyid', { value })).to.deep.equal({});
    await node.mine(18);
    expect(await see('walletsolidity/gettransactioninfobyid', { value })).to.include({ id: value });
    expect((await see('walletsolidity/getaccount', account)).balance).to.equal(before + 7_000_000);
  });

  it('may never land', async () => {
    const { node, people } = world;
    const { bob, carol } = people;
    const account = { address: prefixed(carol.address) };
    const before = (await see('wallet/getaccount', account)).balance;
    const value = await node.pay({ from: bob, to: carol.address, currency: 'TRX', units: 5n });
    const stays = await node.pay({ from: bob, to: carol.address, currency: 'TRX', units: 7n });
    expect(shapeOf(await see('wallet/gettransactionfrompending', { value }))).to.deep.equal(
      shapeOfRecorded('wallet_gettransactionfrompending__never_lands_at_first'),
    );
    await node.forget(value);
    for (const path of ['gettransactionbyid', 'gettransactionfrompending', 'gettransactioninfobyid'])
      expect(await see(`wallet/${path}`, { value })).to.deep.equal({});
    await node.mine();
    expect(await see('wallet/gettransactioninfobyid', { value: stays })).to.include({ id: stays });
    expect((await see('wallet/getaccount', account)).balance).to.equal(before + 7);
  });

  it('is dropped when it has expired', async () => {
    const { node, people } = world;
    const to = people.carol.address;
    const value = await node.pay({ to, currency: 'TRX', units: 9n, expiresInMs: 2_000 });
    await node.mine();
    expect(await see('wallet/gettransactionbyid', { value })).to.deep.equal({});
  });
});
