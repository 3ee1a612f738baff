import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { ALICE, type Answer, ask, creditedAt, post, prefixed } from './asking.ts';

describe('the blocks of the double', function () {
  this.timeout(60_000);
  let node: TronNode;
  afterEach(() => node?.stop());

  it('come only when a test says so, three seconds apart', async () => {
    node = await startTronNode();
    const { header } = node.head();
    const height = await node.mine(30);
    expect(height).to.equal(header.number + 30);
    const { block } = (await node.ask('wallet/getblockbylimitnext', {
      startNum: header.number,
      endNum: height + 1,
    })) as Answer;
    const times = block.map((one: Answer) => one.block_header.raw_data.timestamp);
    for (const [at, ms] of times.entries()) expect(ms).to.equal(header.timestampMs + 3_000 * at);
    for (const [at, one] of block.entries()) {
      if (at > 0) expect(one.block_header.raw_data.parentHash).to.equal(block[at - 1].blockID);
      expect(Number.parseInt(one.blockID.slice(0, 16), 16)).to.equal(header.number + at);
    }
    expect(times[0] % 3_000).to.equal(0);
    expect(header.timestampMs).to.be.closeTo(Date.now(), 700_000);
  });

  it('are irreversible eighteen blocks behind the head, unless another distance is wanted', async () => {
    node = await startTronNode();
    const height = await node.mine(20);
    expect(node.solidHeight()).to.equal(height - 18);
    const solid = await ask(node.url, 'walletsolidity/getnowblock');
    expect(solid.block_header.raw_data.number).to.equal(height - 18);
    expect(await ask(node.url, 'walletsolidity/getblockbynum', { num: height - 17 })).to.deep.equal({});
  });

  it('come by the clock where that is wanted', async () => {
    node = await startTronNode({ blockTimeMs: 100, solidDistance: 2 });
    const start = node.head().header.number;
    const id = await node.pay({ to: ALICE, currency: 'TRX', units: 3n });
    const height = await eventually('the payment in an irreversible block', async () => {
      const info = await ask(node.url, 'walletsolidity/gettransactioninfobyid', { value: id });
      return info.blockNumber as number | undefined;
    });
    expect(height).to.be.greaterThan(start);
    expect(node.head().header.timestampMs).to.be.closeTo(Date.now(), 2_000);
  });

  it('have the balances of their height in the irreversible view', async () => {
    node = await startTronNode({ solidDistance: 2 });
    const balance = async (): Promise<number | undefined> =>
      (await ask(node.url, 'walletsolidity/getaccount', { address: prefixed(ALICE) })).balance;
    for (const units of [10n, 20n, 30n]) {
      await node.pay({ to: ALICE, currency: 'TRX', units });
      await node.mine();
    }
    expect(await balance()).to.equal(10);
    await node.mine();
    expect(await balance()).to.equal(30);
    await node.mine();
    expect(await balance()).to.equal(60);
  });

  it('are served by as many addresses as are wanted, with a key where that is wanted', async () => {
    node = await startTronNode({ separateSolidity: true });
    const endpoint = await node.endpoint({ key: 'secret' });
    expect(endpoint.solidityUrl).to.not.equal(endpoint.url);
    expect((await post(endpoint.url, 'wallet/getnowblock', '{}')).status).to.equal(401);
    const headers = { 'TRON-PRO-API-KEY': 'secret' };
    const answer = await fetch(`${endpoint.solidityUrl}/walletsolidity/getnowblock`, { headers });
    expect(answer.status).to.equal(200);
    expect(endpoint.requests.map(({ path }) => path)).to.deep.equal([
      'wallet/getnowblock',
      'walletsolidity/getnowblock',
    ]);
  });

  it('hold many transactions of many senders in the order in which they came', async () => {
    node = await startTronNode();
    const sent: string[] = [];
    for (let at = 0; at < 40; at++)
      sent.push(
        await node.pay({ to: ALICE, currency: 'TRX', units: BigInt(at + 1), from: node.accounts[at % 10] }),
      );
    const height = await node.mine();
    const { transactions } = await ask(node.url, 'wallet/getblockbynum', { num: height });
    expect(transactions.map(({ txID }: Answer) => txID)).to.deep.equal(sent);
    expect(await creditedAt(node, height)).to.have.length(40);
  });
});
