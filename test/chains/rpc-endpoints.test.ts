import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../../dev/support/chain.ts';
import { type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { always } from '../../dev/support/faults.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { createRpcPool, type RpcPool } from '../../src/chains/rpc/json-rpc.ts';

const { signal } = new AbortController();

describe('a pool of endpoints', () => {
  let chain: TestChain;
  let bad: FaultProxy;
  const reports: string[] = [];

  const pool = (urls: readonly string[]): RpcPool =>
    createRpcPool({
      name: 'bsc',
      urls,
      chainId: TEST_CHAIN_ID,
      timeoutMs: 400,
      report: (message) => reports.push(message),
    });
  const readerOf = (rpc: RpcPool): ChainReader =>
    createBscReader({ rpc, usdtContract: `0x${'55'.repeat(20)}` });
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => new Error('it succeeded'),
      (error: unknown) => error as Error,
    );

  before(async () => {
    chain = await startTestChain();
    bad = await startFaultProxy(chain.url);
  });
  after(async () => {
    await bad?.stop();
    await chain?.stop();
  });
  beforeEach(() => {
    bad.fault = undefined;
    reports.length = 0;
  });

  it('says in one sentence what every endpoint does, the same each time', async () => {
    bad.fault = always({ status: 429, body: '' });
    const gone = await startFaultProxy(chain.url);
    await gone.stop();
    const rpc = pool([bad.url, gone.url]);
    const { message } = await failureOf(readerOf(rpc).head(signal));
    const host = new URL(bad.url).host;
    expect(message).to.equal(
      `no RPC endpoint answers for bsc: http 429 from 1 of 2 (${host}), connection failed (ECONNREFUSED) from 1 of 2 (${new URL(gone.url).host})`,
    );
  });

  it('never shows a key that is part of an endpoint’s URL, and still sends it', async () => {
    const host = new URL(bad.url).host;
    const rpc = pool([`http://user:p%40ssw0rd@${host}/v3/SECRETPATHKEY?apikey=SECRETQUERY`]);
    bad.fault = (call) => ({
      json: {
        id: call.id,
        error: {
          code: -32000,
          message: `project SECRETPATHKEY, key SECRETQUERY, p@ssw0rd of https://${host}/v3/SECRETPATHKEY is over its limit`,
        },
      },
    });
    const error = await failureOf(readerOf(rpc).head(signal));
    const shown = [error.message, String(error.stack), ...reports, JSON.stringify(rpc.status())].join('\n');
    expect(shown).to.match(/project \*\*\*, key \*\*\*/);
    expect(shown).not.to.match(/SECRET|ssw0rd/);
    expect(bad.requests.at(-1)?.path).to.equal('/v3/SECRETPATHKEY?apikey=SECRETQUERY');
    expect(bad.requests.at(-1)?.headers.authorization).to.equal(
      `Basic ${Buffer.from('user:p@ssw0rd').toString('base64')}`,
    );
  });

  it('refuses endpoint lists that can not be meant, without repeating the URL', () => {
    expect(() => pool([])).to.throw('1 to 16 RPC endpoints');
    expect(() => pool(Array(17).fill(bad.url))).to.throw('1 to 16 RPC endpoints');
    expect(() => pool(['SECRET'])).to.throw(/not a URL: write it as https:\/\/host\/path$/);
    expect(() => pool(['ws://host/SECRET'])).to.throw(/host must be an http or https URL$/);
  });
});
