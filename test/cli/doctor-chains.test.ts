import { expect } from 'chai';
import { startTestChain, type TestChain } from '../../dev/support/chain.ts';
import { createLogger } from '../../src/base/log.ts';
import { checkChains } from '../../src/cli/doctor/chains.ts';
import { loadConfig } from '../../src/config/index.ts';
import { type HeadServer, startHeadServer } from '../support/http/head-server.ts';

describe('what doctor says of the endpoints of a chain', function () {
  this.timeout(60_000);
  const log = createLogger({ level: 'fatal' });
  let chain: TestChain;
  let heads: HeadServer;

  before(async () => {
    [chain, heads] = await Promise.all([startTestChain(), startHeadServer()]);
  });
  after(() => Promise.all([chain?.stop(), heads?.stop()]));

  async function told(...urls: string[]) {
    const env = {
      BSC_RPC_URLS: urls.join(','),
      BSC_USDT_CONTRACT: chain.usdt.address,
      PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    };
    const checks = await checkChains(loadConfig(env), log);
    expect(JSON.stringify(checks), 'the key of an address').not.to.include('secret-api-key');
    return checks.find(({ name }) => name === 'endpoints_bsc');
  }

  it('holds that blocks are announced, where the address connects and subscribes', async () => {
    const check = await told(chain.url.replace('http', 'ws'), chain.url, heads.url);
    expect(check?.action).to.equal(null);
    expect(check?.detail).to.match(
      /; 127\.0\.0\.1:\d+ announces blocks; 127\.0\.0\.1:\d+ announces blocks; asked at most/,
    );
  });

  it('holds why none are announced, and what to do', async () => {
    heads.accepts = false;
    const check = await told(chain.url, heads.url);
    expect(check?.ok).to.equal(false);
    expect(check?.detail).to.match(
      /lacks .*; 127\.0\.0\.1:\d+ announces none \(no WebSocket at this address\); asked at most/,
    );
    expect(check?.action).to.match(/^Correct the ws or wss address in BSC_RPC_URLS, or take it out/);
  });
});
