import { expect } from 'chai';
import { startTestChain, type TestChain, USDT_UNIT } from '../../../dev/support/chain.ts';
import { tronEnv } from '../../../dev/support/live-chains.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { openBsc } from '../../../src/chains/bsc/open.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { openTron } from '../../../src/chains/tron/open.ts';
import { loadConfig } from '../../../src/config/index.ts';
import { failureOf } from '../conformance/scene.ts';

const SILENT = { onEndpoint: () => undefined };
const THEIRS = '0x52908400098527886e0f7030069857d2e4169ee7';
const { signal } = new AbortController();
const openBscWith = (env: Record<string, string>) => openBsc(loadConfig(env).chains.bsc, SILENT);

describe('one transaction that is looked up', function () {
  this.timeout(60_000);
  let chain: TestChain;
  let node: TronNode;
  before(async () => {
    [chain, node] = await Promise.all([startTestChain(), startTronNode({ solidDistance: 4 })]);
  });
  after(async () => {
    await Promise.all([chain?.stop(), node?.stop()]);
  });

  it('waits on bsc, then shows its block, its sender and what it moved; nothing where it failed', async () => {
    const { lookUp } = openBscWith({ BSC_RPC_URLS: chain.url, BSC_USDT_CONTRACT: chain.usdt.address });
    const [to, payer, contract] = [THEIRS, chain.accounts[0] ?? '', chain.usdt.address].map((one) =>
      keyOfHex(one, 2),
    );
    const coins = { from: payer, moves: [{ to, contract: null, units: 5n }] };
    const hash = await chain.send({ to: THEIRS, valueUnits: 5n });
    expect(await lookUp(hash, signal)).to.deep.equal({ blockNumber: null, outcome: 'waits', ...coins });
    const tokens = await chain.usdt.call('transfer', [THEIRS, 3n * USDT_UNIT]);
    const failed = await chain.usdt.call('transfer', [THEIRS, 1n], { from: chain.accounts[5] ?? '' });
    const blockNumber = await chain.mine();
    expect(await lookUp(hash, signal)).to.deep.equal({ blockNumber, outcome: 'succeeded', ...coins });
    expect((await lookUp(tokens, signal))?.moves).to.deep.equal([{ to, contract, units: 3n * USDT_UNIT }]);
    expect(await lookUp(failed, signal)).to.deep.include({ outcome: 'failed', moves: [] });
    expect(await lookUp(`0x${'7'.repeat(64)}`, signal), 'no endpoint has it').to.equal(undefined);
    const { lookUp: away } = openBscWith({ BSC_RPC_URLS: 'http://127.0.0.1:9/SECRET' });
    expect(String(await failureOf(away(hash, signal))))
      .to.match(/no endpoint of bsc answers: 127\.0\.0\.1:9: /)
      .and.not.include('SECRET');
  });

  it('shows on tron coins and tokens with their receiver, once a block holds them', async () => {
    const { lookUp } = openTron(loadConfig(tronEnv(node)).chains.tron, SILENT);
    const to = TRON_ADDRESSES.key('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8');
    const coins = await node.pay({ to, currency: 'TRX', units: 7n });
    const tokens = await node.pay({ to, currency: 'USDT', units: 9n });
    await node.mine();
    const outcome = 'succeeded';
    const moved = (contract: string | null, units: bigint) => ({ outcome, moves: [{ to, contract, units }] });
    expect(await lookUp(coins, signal)).to.deep.include(moved(null, 7n));
    expect(await lookUp(tokens, signal)).to.deep.include(moved(node.usdt.key, 9n));
    expect(await lookUp('7'.repeat(64), signal)).to.equal(undefined);
  });
});
