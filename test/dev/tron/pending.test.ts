import { expect } from 'chai';
import { type Answer, ask, prefixed } from './asking.ts';
import { recordedAs } from './recorded.ts';
import { shapeOf } from './shape.ts';
import { makeWorld, type World } from './world.ts';

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
  /** That the answer has the shape of the recorded one. */
  const like = async (name: string, recorded: string, body?: object): Promise<void> => {
    const { response } = recordedAs(`wallet_${name}${recorded}`);
    expect(shapeOf(await see(`wallet/${name}`, body)), name).to.deep.equal(shapeOf(response));
  };

  it('is shown by the full node as if it had happened, and by its infos not at all', async () => {
    const { node, people, token } = world;
    const { grace } = people;
    const balance = async (view: string): Promise<number> =>
      (await see(`${view}/getaccount`, { address: prefixed(grace.address) })).balance;
    const before = await balance('wallet');
    const value = await node.pay({ from: people.bob, to: grace.address, currency: 'TRX', units: 7_000_000n });
    const byToken = await token.call('transfer', [grace.address, 5n], { from: people.alice });

    await like('gettransactionbyid', '__pending', { value });
    await like('gettransactionbyid', '__pending_token', { value: byToken });
    await like('gettransactionfrompending', '__pending', { value });
    expect((await see('wallet/gettransactionlistfrompending')).txId).to.deep.equal([value, byToken]);
    expect([await balance('wallet'), await balance('walletsolidity')]).to.eql([before + 7_000_000, before]);
    const { constant_result: tokens } = await see('wallet/triggerconstantcontract', {
      owner_address: prefixed(people.alice.address),
      contract_address: prefixed(token.key),
      function_selector: 'balanceOf(address)',
      parameter: grace.address.padStart(64, '0'),
    });
    expect(BigInt(`0x${tokens[0]}`)).to.equal(5n);

    /** Which of these knows it. */
    const knowing = async () => {
      const paths = ['wallet/gettransactionfrompending', 'wallet/gettransactioninfobyid'];
      const answers = [...paths, 'walletsolidity/gettransactioninfobyid'].map((path) => see(path, { value }));
      return (await Promise.all(answers)).map((answer) => Object.keys(answer).length > 0);
    };
    expect(await knowing()).to.deep.equal([true, false, false]);
    expect(await see('walletsolidity/gettransactionbyid', { value })).to.deep.equal({});
    await node.mine();
    expect(await knowing()).to.deep.equal([false, true, false]);
    await node.mine(18);
    expect(await knowing()).to.deep.equal([false, true, true]);
    expect(await balance('walletsolidity')).to.equal(before + 7_000_000);
  });
});
