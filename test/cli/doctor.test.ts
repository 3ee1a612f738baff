import { expect } from 'chai';
import { startTestChain, type TestChain } from '../../dev/support/chain.ts';
import { createLogger } from '../../src/base/log.ts';
import { checkChains } from '../../src/cli/doctor/chains.ts';
import { type Environment, loadConfig } from '../../src/config/index.ts';

const told = async (env: Environment, name: string) =>
  (await checkChains(loadConfig(env), createLogger({ level: 'fatal' }))).find((one) => one.name === name);

describe('what doctor says of a chain and its endpoints', function () {
  this.timeout(60_000);
  let chain: TestChain;
  before(async () => {
    chain = await startTestChain();
  });
  after(() => chain?.stop());

  it('names the wrong chain, and tells of the right one what it is', async () => {
    const right: Environment = {
      BSC_RPC_URLS: chain.url,
      BSC_USDT_CONTRACT: chain.usdt.address,
      PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    };
    const wrong = await told({ ...right, BSC_CHAIN_ID: '97' }, 'bsc');
    expect(wrong?.ok).to.equal(false);
    expect(`${wrong?.detail} ${wrong?.action}`).to.match(/56.*97.*BSC_CHAIN_ID/);
    expect((await told(right, 'bsc'))?.detail).to.match(
      /^chain 56, USDT has 18 decimals, head \d+, finalized \d+$/,
    );
    expect((await told(right, 'prices'))?.detail).to.match(/BNB 600, TRX 0\.3, USDT 1/);
  });
});
