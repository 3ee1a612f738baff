import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { anvil, tempDir } from '../../dev/support/parts.ts';
import { failureOf } from '../support/repository/scripts.ts';

const heightOf = async (node: { rpc(method: string): Promise<unknown> }) =>
  Number(await node.rpc('eth_blockNumber'));

describe('the EVM node', () => {
  it('has the chain id of BNB Chain, mines only when told to, and calls the block two below the head final', async () => {
    const node = await anvil();
    expect(await node.rpc('eth_chainId')).to.equal('0x38');
    await sleep(300);
    expect(await heightOf(node)).to.equal(0);
    await node.mine(5);
    await node.mine();
    const final = (await node.rpc('eth_getBlockByNumber', ['finalized', false])) as { number: string };
    expect([await heightOf(node), Number(final.number)]).to.deep.equal([6, 4]);
    await node.stop();
  });

  it('comes back with the same chain on the same port', async () => {
    const statePath = join(await tempDir(), 'chain.json');
    const node = await anvil({ statePath });
    const [from] = (await node.rpc('eth_accounts')) as string[];
    const hash = await node.rpc('eth_sendTransaction', [{ from, to: from, value: '0x1' }]);
    await node.mine(3);
    const receipt = await node.rpc('eth_getTransactionReceipt', [hash]);
    await node.stop();
    await failureOf(node.rpc('eth_blockNumber'));
    const again = await anvil({ statePath, port: node.port });
    expect([again.url, await heightOf(again)]).to.deep.equal([node.url, 3]);
    expect(await again.rpc('eth_getTransactionReceipt', [hash])).to.deep.equal(receipt);
    await again.stop();
  });

  it('answers nothing while it is paused, and everything afterwards', async () => {
    const node = await anvil();
    node.pause();
    const answer = node.rpc('eth_chainId');
    expect(await Promise.race([answer, sleep(500, 'silence')])).to.equal('silence');
    node.resume();
    expect(await answer).to.equal('0x38');
    await node.stop();
  });

  it('runs beside another one, and says which port is taken', async () => {
    const [one, two] = await Promise.all([anvil(), anvil({ chainId: 97 })]);
    expect(await failureOf(anvil({ port: one.port }))).to.contain(
      `port ${one.port} of 127.0.0.1, wanted for the EVM node, is taken`,
    );
    expect(await two.rpc('eth_chainId')).to.equal('0x61');
    await Promise.all([one.kill(), two.kill()]);
  });
});
