import { expect } from 'chai';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { ALICE, type Answer, ask, creditedAt, prefixed, readBlock } from './asking.ts';
import { recordedAs } from './recorded.ts';
import { shapeOf } from './shape.ts';

describe('a fork on the double', function () {
  this.timeout(60_000);
  let node: TronNode;
  beforeEach(async () => {
    node = await startTronNode({ solidDistance: 6 });
  });
  afterEach(() => node?.stop());

  const pay = (units: bigint): Promise<string> => node.pay({ to: ALICE, currency: 'USDT', units });
  const idsFrom = async (height: number): Promise<(string | undefined)[]> => {
    const heights = Array.from({ length: node.head().header.number - height + 1 }, (_, at) => height + at);
    return await Promise.all(heights.map(async (one) => (await readBlock(node, one))?.hash));
  };
  const tokens = async (): Promise<bigint> => {
    const { constant_result } = (await node.ask('walletsolidity/triggerconstantcontract', {
      owner_address: prefixed(ALICE),
      contract_address: prefixed(node.usdt.key),
      function_selector: 'balanceOf(address)',
      parameter: ALICE.padStart(64, '0'),
    })) as Answer;
    return BigInt(`0x${constant_result[0]}`);
  };

  it('has other blocks at the same heights, linked to what stays', async () => {
    await pay(1n);
    const height = await node.mine();
    await node.mine(2);
    const [before, ...old] = await idsFrom(height - 1);
    await node.replace(3);
    const [after, ...others] = await idsFrom(height - 1);
    expect(after).to.equal(before);
    expect(others).to.have.length(3);
    for (const [at, id] of others.entries()) expect(id).to.not.equal(old[at]);
    expect((await readBlock(node, height))?.parentHash).to.equal(before);
    expect(await creditedAt(node, height)).to.deep.equal([]);
  });

  it('has other blocks even where nothing was in them', async () => {
    const height = await node.mine(2);
    const old = await idsFrom(height - 1);
    await node.replace(2);
    const others = await idsFrom(height - 1);
    expect(others.some((id) => old.includes(id))).to.equal(false);
  });

  it('drops what was paid, or takes it into another block, or into the next one', async () => {
    const dropped = await pay(1n);
    const height = await node.mine(2);
    await node.replace(2);
    expect(await ask(node.url, 'wallet/gettransactionbyid', { value: dropped })).to.deep.equal({});

    await node.again(dropped);
    const first = await node.mine(2);
    await node.replace(2, { keep: 'moved' });
    expect(await creditedAt(node, first - 1)).to.deep.equal([]);
    expect(await creditedAt(node, first)).to.deep.equal(['alice USDT 1']);

    await node.replace(1, { keep: 'again' });
    expect(await creditedAt(node, first)).to.deep.equal([]);
    const next = await node.mine();
    expect(await creditedAt(node, next)).to.deep.equal(['alice USDT 1']);
    expect(height).to.be.lessThan(next);
  });

  it('takes back what it replaced, and keeps what waits', async () => {
    await pay(4n);
    await node.mine();
    await pay(5n);
    await node.replace(1);
    const next = await node.mine();
    expect(await creditedAt(node, next)).to.deep.equal(['alice USDT 5']);
    await node.mine(6);
    expect(await tokens()).to.equal(5n);
  });

  it('takes back that an address was activated, which costs again', async () => {
    const account = { address: prefixed(ALICE) };
    const first = await node.pay({ to: ALICE, currency: 'TRX', units: 4n });
    await node.mine();
    const { fee } = await ask(node.url, 'wallet/gettransactioninfobyid', { value: first });
    await node.replace(1);
    expect(await ask(node.url, 'wallet/getaccount', account)).to.deep.equal({});
    const second = await node.pay({ to: ALICE, currency: 'TRX', units: 4n });
    await node.forget(second);
    expect(await ask(node.url, 'wallet/getaccount', account)).to.deep.equal({});
    await node.again(first);
    await node.mine();
    expect((await ask(node.url, 'wallet/gettransactioninfobyid', { value: first })).fee).to.equal(fee);
    expect(fee).to.equal(1_100_000);
    expect((await ask(node.url, 'wallet/getaccount', account)).balance).to.equal(4);
  });

  it('never goes below what is irreversible', async () => {
    await node.mine(8);
    const failed = await node.replace(7).catch((error: unknown) => error);
    expect(failed)
      .to.have.property('message')
      .that.matches(/^block \d+ is irreversible$/);
    await node.replace(6);
    expect(node.head().header.number - node.solidHeight()).to.equal(6);
  });

  it('is what a restart leaves: the irreversible blocks, then others', async () => {
    await node.mine(8);
    const first = await pay(999_123n);
    const second = await pay(999_124n);
    const height = await node.mine();
    const before = await ask(node.url, 'wallet/gettransactioninfobyid', { value: first });
    const shape = (name: string): unknown => shapeOf(recordedAs(name).response, ['receipt', 'fee']);
    expect(before.blockNumber).to.equal(height);
    const [oldId] = await idsFrom(height);
    const oldMs = node.head().header.timestampMs;

    const solid = node.solidHeight();
    await node.restart();
    const head = await ask(node.url, 'wallet/getnowblock');
    expect(shapeOf(head)).to.deep.equal(shape('reorg__2_after_restart__wallet_getnowblock'));
    expect(head.block_header.raw_data.number).to.equal(solid);
    expect(node.solidHeight()).to.equal(solid);
    for (const name of [
      'wallet_getblockbynum',
      'wallet_gettransactionbyid',
      'wallet_gettransactioninfobyid',
    ]) {
      const { response } = recordedAs(`reorg__2_after_restart__${name}`);
      const path = name.replace('_', '/');
      expect(await ask(node.url, path, { num: height, value: first })).to.deep.equal(response);
    }

    await node.again(first);
    const landed = await node.mine();
    await node.mine(height - landed);
    const after = await ask(node.url, 'wallet/gettransactioninfobyid', { value: first });
    expect(after.blockNumber).to.equal(landed).and.not.equal(height);
    expect((await readBlock(node, landed))?.timestampMs).to.be.greaterThan(oldMs);
    expect(await ask(node.url, 'wallet/gettransactioninfobyid', { value: second })).to.deep.equal({});
    expect((await idsFrom(height))[0]).to.not.equal(oldId);
  });
});
