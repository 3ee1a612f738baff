import { expect } from 'chai';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { ALICE, ask, infoOf } from './asking.ts';
import { recordedAs } from './recorded.ts';
import { shapeOf } from './shape.ts';

describe('a fork on the double', function () {
  this.timeout(60_000);
  let node: TronNode;
  beforeEach(async () => {
    node = await startTronNode({ solidDistance: 6 });
  });
  afterEach(() => node?.stop());
  const pay = (units: bigint): Promise<string> => node.pay({ to: ALICE, currency: 'TRX', units });

  it('never goes below what is irreversible', async () => {
    await node.mine(8);
    const failed = await node.replace(7).catch((error: unknown) => error);
    expect(String(failed)).to.match(/block \d+ is irreversible$/);
    await node.replace(6);
    expect(node.head().header.number - node.solidHeight()).to.equal(6);
  });

  it('is what a restart leaves, as was recorded: the irreversible blocks, then others', async () => {
    await node.mine(8);
    const id = await pay(999_123n);
    const height = await node.mine();
    const before = await infoOf(node, id);
    const solid = node.solidHeight();
    await node.restart();
    const head = await ask(node.url, 'wallet/getnowblock');
    expect(shapeOf(head)).to.deep.equal(
      shapeOf(recordedAs('reorg__2_after_restart__wallet_getnowblock').response),
    );
    expect([head.block_header.raw_data.number, node.solidHeight()]).to.deep.equal([solid, solid]);
    for (const name of ['getblockbynum', 'gettransactionbyid', 'gettransactioninfobyid']) {
      const { response } = recordedAs(`reorg__2_after_restart__wallet_${name}`);
      expect(await ask(node.url, `wallet/${name}`, { num: height, value: id })).to.deep.equal(response);
    }
    await node.again(id);
    const landed = await node.mine();
    const after = await infoOf(node, id);
    expect([before.blockNumber, after.blockNumber]).to.deep.equal([height, landed]);
    expect(after.blockTimeStamp).to.be.greaterThan(before.blockTimeStamp);
  });
});
