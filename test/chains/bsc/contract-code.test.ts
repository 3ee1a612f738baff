import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../../../dev/support/chain.ts';
import { startFaultProxy } from '../../../dev/support/fault-proxy.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { hasCodeOver } from '../../../src/chains/bsc/contract-code.ts';
import { createRpcPool } from '../../../src/chains/rpc/json-rpc.ts';

const NOBODY = keyOfHex('d1'.repeat(20));

describe('whether code runs at an address', function () {
  this.timeout(60_000);
  let chain: TestChain;
  let proxy: Awaited<ReturnType<typeof startFaultProxy>>;
  before(async () => {
    chain = await startTestChain();
    proxy = await startFaultProxy(chain.url);
  });
  after(async () => {
    await proxy?.stop();
    await chain?.stop();
  });
  const ask = (hex: string) => {
    const rpc = createRpcPool({ name: 'bsc', urls: [proxy.url], chainId: TEST_CHAIN_ID });
    return hasCodeOver(rpc)(keyOfHex(hex.replace(/^0x/, '').toLowerCase(), 0), AbortSignal.timeout(5_000));
  };

  it('is what an endpoint says of it', async () => {
    expect(await ask(chain.usdt.address)).to.equal(true);
    expect(await ask(NOBODY)).to.equal(false);
  });

  it('is no answer where the endpoint gives none', async () => {
    for (const result of ['', null, 7, '0x1', {}, 'code']) {
      proxy.fault = ({ method, id }) =>
        method === 'eth_getCode' ? { json: { jsonrpc: '2.0', id, result } } : undefined;
      const said = await ask(NOBODY).then(String, (error: Error) => error.name);
      expect(said, String(result)).to.match(/Unavailable|Failure/);
    }
  });
});
