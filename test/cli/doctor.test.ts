import { expect } from 'chai';
import { startTestChain, type TestChain } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../dev/tron/contracts.ts';
import { startTronNode, type TronNode } from '../../dev/tron/node.ts';
import { createLogger } from '../../src/base/log.ts';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import { checkChains } from '../../src/cli/doctor/chains.ts';
import { type Environment, loadConfig } from '../../src/config/index.ts';
import { type HeadServer, startHeadServer } from '../support/http/head-server.ts';

const told = async (env: Environment, name: string) =>
  (await checkChains(loadConfig(env), createLogger({ level: 'fatal' }))).find((one) => one.name === name);

describe('what doctor says of a chain and its endpoints', function () {
  this.timeout(60_000);
  let chain: TestChain;
  let heads: HeadServer;
  before(async () => {
    [chain, heads] = await Promise.all([startTestChain(), startHeadServer()]);
  });
  after(() => Promise.all([chain?.stop(), heads?.stop()]));

  const over = (...urls: string[]): Environment => ({
    BSC_RPC_URLS: urls.join(','),
    BSC_USDT_CONTRACT: chain.usdt.address,
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
  });

  it('names the wrong chain, and tells of the right one what it is', async () => {
    const wrong = await told({ ...over(chain.url), BSC_CHAIN_ID: '97' }, 'bsc');
    expect(wrong?.ok).to.equal(false);
    expect(`${wrong?.detail} ${wrong?.action}`).to.match(/56.*97.*BSC_CHAIN_ID/);
    const right = await told(over(chain.url), 'bsc');
    expect(right?.detail).to.match(/^chain 56, USDT has 18 decimals, head \d+, finalized \d+$/);
    expect((await told(over(chain.url), 'prices'))?.detail).to.match(/BNB 600, TRX 0\.3, USDT 1/);
  });

  it('holds that blocks are announced, or why not and what to do, and no key of an address', async () => {
    const well = await told(over(chain.url.replace('http', 'ws'), chain.url, heads.url), 'endpoints_bsc');
    expect(well?.action).to.equal(null);
    expect(well?.detail).to.match(
      /; 127\.0\.0\.1:\d+ announces blocks; 127\.0\.0\.1:\d+ announces blocks; asked at most/,
    );
    heads.accepts = false;
    const check = await told(over(chain.url, heads.url), 'endpoints_bsc');
    expect(check?.ok).to.equal(false);
    expect(check?.detail).to.match(
      /lacks .*; 127\.0\.0\.1:\d+ announces none \(no WebSocket at this address\); asked at most/,
    );
    expect(check?.action).to.match(/^Correct the ws or wss address in BSC_RPC_URLS, or take it out/);
    expect(JSON.stringify([well, check])).not.to.include('secret-api-key');
  });
});

describe('what doctor says of the prices', function () {
  this.timeout(60_000);
  let node: TronNode;
  let feed: TronContract;
  before(async () => {
    node = await startTronNode();
    await node.mine(30);
    feed = await node.deploy(testContracts().Feed);
  });
  after(() => node?.stop());

  it('holds those that Tron tells where it alone is watched, what is unknown, and what to do', async () => {
    const address = TRON_ADDRESSES.format(feed.key);
    const env = {
      TRON_API_URLS: node.url,
      TRON_USDT_CONTRACT: TRON_ADDRESSES.format(node.usdt.key),
      PRICE_FEEDS: `TRX=${address},USDT=${address}`,
    };
    await feed.call('set', [31_500_000n, BigInt(Math.floor(Date.now() / 1_000))]);
    await node.mine();
    expect(await told(env, 'prices')).to.deep.equal({
      name: 'prices',
      ok: true,
      detail: 'chainlink on Tron: TRX 0.315, USDT 0.315, BNB has no feed there',
      action: null,
    });
    await feed.call('setBroken', [true]);
    await node.mine();
    expect(await told(env, 'prices')).to.deep.equal({
      name: 'prices',
      ok: false,
      detail: 'chainlink on Tron: TRX unknown, USDT unknown, BNB has no feed there',
      action: 'Check TRON_API_URLS, or name feeds of this chain in PRICE_FEEDS',
    });
    expect(await told({}, 'prices')).to.include({
      ok: true,
      detail: 'chainlink, which reads BNB Chain or Tron: none of them is watched',
    });
  });
});
