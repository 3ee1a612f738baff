import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { anvil } from '../../dev/support/parts.ts';

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
});
