import { expect } from 'chai';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../dev/tron/contracts.ts';
import { startTronNode, type TronNode } from '../../dev/tron/node.ts';
import { createLogger } from '../../src/base/log.ts';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import { checkChains } from '../../src/cli/doctor/chains.ts';
import { type Environment, loadConfig } from '../../src/config/index.ts';

describe('what doctor says of the prices', function () {
  this.timeout(60_000);
  const log = createLogger({ level: 'fatal' });
  let node: TronNode;
  let feed: TronContract;

  before(async () => {
    node = await startTronNode();
    await node.mine(30);
    feed = await node.deploy(testContracts().Feed);
  });
  after(() => node?.stop());

  async function told(env: Environment) {
    const checks = await checkChains(loadConfig(env), log);
    return checks.find(({ name }) => name === 'prices');
  }
  const onTron = (feeds: string): Environment => ({
    TRON_API_URLS: node.url,
    TRON_USDT_CONTRACT: TRON_ADDRESSES.format(node.usdt.key),
    PRICE_FEEDS: feeds,
  });
  const feeds = (): string => {
    const address = TRON_ADDRESSES.format(feed.key);
    return `TRX=${address},USDT=${address}`;
  };

  it('holds those that Tron tells where it alone is watched, and that it needs none for BNB', async () => {
    await feed.call('set', [31_500_000n, BigInt(Math.floor(Date.now() / 1_000))]);
    await node.mine();
    expect(await told(onTron(feeds()))).to.deep.equal({
      name: 'prices',
      ok: true,
      detail: 'chainlink on Tron: TRX 0.315, USDT 0.315, BNB has no feed there',
      action: null,
    });
  });

  it('holds what is unknown, and what to do', async () => {
    await feed.call('setBroken', [true]);
    await node.mine();
    const check = await told(onTron(feeds()));
    await feed.call('setBroken', [false]);
    expect(check).to.deep.equal({
      name: 'prices',
      ok: false,
      detail: 'chainlink on Tron: TRX unknown, USDT unknown, BNB has no feed there',
      action: 'Check TRON_API_URLS, or name feeds of this chain in PRICE_FEEDS',
    });
  });

  it('is that there are none where no chain is watched', async () => {
    expect(await told({})).to.include({
      ok: true,
      detail: 'chainlink, which reads BNB Chain or Tron: none of them is watched',
    });
  });
});
