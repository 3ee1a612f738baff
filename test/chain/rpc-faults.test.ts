import { expect } from 'chai';
import { AddressSet } from '../../src/chain/address-set.ts';
import { createBscReader } from '../../src/chain/bsc.ts';
import { ChainMismatch, RpcUnavailable } from '../../src/chain/errors.ts';
import type { ChainReader, ScannedBlock } from '../../src/chain/port.ts';
import { createRpcPool, type RpcPool, type RpcPoolOptions } from '../../src/chain/rpc.ts';
import { startTestChain, TEST_CHAIN_ID, type TestChain, USDT_UNIT } from '../support/chain.ts';
import { type Answer, type Fault, type FaultProxy, type RpcCall, startFaultProxy } from '../support/fault-proxy.ts';

const { signal } = new AbortController();
const alice = `0x${'a1'.repeat(20)}`;
type Receipt = { logs: unknown[]; logsBloom: string; blockHash: string; transactionHash: string; status?: string };

/** Changes the real answer to one method. */
function changed(method: string, change: (result: never, call: RpcCall) => unknown): Fault {
  return async (call, forward) => {
    if (call.method !== method) return undefined;
    const answer = await forward();
    return { json: { ...answer, result: change(answer.result as never, call) } };
  };
}

/** The same answer to everything but the chain id, which a new connection asks for first. */
function always(answer: Answer): Fault {
  return (call) => (call.method === 'eth_chainId' ? undefined : answer);
}

describe('endpoints that fail, lie or lag', () => {
  let chain: TestChain;
  let bad: FaultProxy;
  let good: FaultProxy;
  let number: number;
  const watched = new AddressSet();
  const reports: string[] = [];

  function pool(urls: readonly string[], options: Partial<RpcPoolOptions> = {}): RpcPool {
    return createRpcPool({
      name: 'bsc',
      urls,
      chainId: TEST_CHAIN_ID,
      timeoutMs: 400,
      report: (message) => reports.push(message),
      ...options,
    });
  }
  const readerOf = (rpc: RpcPool): ChainReader => createBscReader({ rpc, usdtContract: chain.usdt.address });
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => new Error('it succeeded'),
      (error: unknown) => error as Error,
    );

  before(async () => {
    chain = await startTestChain();
    watched.add(alice);
    bad = await startFaultProxy(chain.url);
    good = await startFaultProxy(chain.url);
    await chain.usdt.call('transfer', [alice, 5n * USDT_UNIT]);
    await chain.send({ to: alice, valueUnits: 3n });
    await chain.usdt.call('transfer', [chain.accounts[4], 1n]);
    number = await chain.mine();
  });
  after(async () => {
    await Promise.all([bad.stop(), good.stop()]);
    await chain.stop();
  });
  beforeEach(() => {
    bad.fault = undefined;
    good.fault = undefined;
    bad.calls.length = 0;
    good.calls.length = 0;
    reports.length = 0;
  });

  function expectComplete(block: ScannedBlock | undefined): void {
    expect(block?.transfers.map((transfer) => transfer.amountUnits)).to.deep.equal([5n * USDT_UNIT, 3n]);
  }

  const faults: readonly [name: string, reason: RegExp, fault: Fault][] = [
    [
      'leaves all logs out',
      /logs are missing/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.map((receipt) => ({ ...receipt, logs: [] }))),
    ],
    [
      'leaves all logs out and the receipts’ blooms too',
      /its bloom names logs and none came/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.map((receipt) => ({ ...receipt, logs: [], logsBloom: undefined }))),
    ],
    [
      'leaves the logs of one transaction out',
      /logs are missing/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
        receipts.map((receipt, i) => (i === 0 ? { ...receipt, logs: [] } : receipt)),
      ),
    ],
    [
      'replaces the token log by another one',
      /logs are missing/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
        receipts.map((receipt) => ({
          ...receipt,
          logs: receipt.logs.map((log) => ({ ...(log as object), topics: [`0x${'9'.repeat(64)}`] })),
        })),
      ),
    ],
    [
      'sends one receipt too few',
      /2 receipts for 3 transactions/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.slice(1)),
    ],
    [
      'sends the receipts in another order',
      /another block or transaction/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.toReversed()),
    ],
    [
      'sends receipts of another block',
      /another block or transaction/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
        receipts.map((receipt) => ({ ...receipt, blockHash: `0x${'1'.repeat(64)}` })),
      ),
    ],
    [
      'sends receipts without a status',
      /another block or transaction/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.map((receipt) => ({ ...receipt, status: undefined }))),
    ],
    ['has no receipts yet', /no receipts for block/, changed('eth_getBlockReceipts', () => null)],
    [
      'sends receipts that are none',
      /malformed|another block/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.map(() => null)),
    ],
    [
      'sends logs that are none',
      /malformed/,
      changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
        receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.map(() => ({})) })),
      ),
    ],
    [
      'sends a block without its transactions',
      /transactions are missing/,
      changed('eth_getBlockByNumber', (block: object) => ({ ...block, transactions: [] })),
    ],
    [
      'sends a block of another height',
      /block 7 in answer to/,
      changed('eth_getBlockByNumber', (block: object) => ({ ...block, number: '0x7' })),
    ],
    [
      'sends a block with no body at all',
      /without its transactions/,
      changed('eth_getBlockByNumber', (block: object) => ({ ...block, transactions: undefined })),
    ],
    ['says 429', /http 429/, always({ status: 429, body: '{}' })],
    [
      'says 429 with a JSON-RPC error in it',
      /http 429/,
      (call) => ({ status: 429, body: JSON.stringify({ id: call.id, error: { code: 1, message: 'slow down' } }) }),
    ],
    ['says 503', /http 503/, always({ status: 503, body: '<html>' })],
    [
      'says -32005',
      /rpc error -32005 limit exceeded/,
      (call) => ({ json: { id: call.id, error: { code: -32005, message: 'limit exceeded' } } }),
    ],
    [
      'does not know the method',
      /rpc error -32601/,
      (call) =>
        call.method === 'eth_getBlockReceipts' ? { json: { id: call.id, error: { code: -32601, message: 'no such method' } } } : undefined,
    ],
    ['answers with an HTML page', /an HTML page instead of JSON/, always({ status: 200, body: '<!doctype html><p>Blocked</p>' })],
    ['answers with half of the JSON', /not JSON or cut short/, always({ status: 200, body: '{"jsonrpc":"2.0","id":1,"resu' })],
    ['answers with nothing', /not JSON or cut short/, always({ status: 200, body: '' })],
    ['answers another question', /another request/, always({ json: { jsonrpc: '2.0', id: 'x', result: null } })],
    ['answers with a list', /another request/, always({ json: [] })],
    ['answers without result', /neither result nor error/, (call) => ({ json: { jsonrpc: '2.0', id: call.id } })],
    ['redirects', /connection failed/, always({ status: 307, body: '', headers: { location: 'http://127.0.0.1:1/' } })],
    ['hangs', /no answer within 0.4 s/, always('hang')],
    ['resets the connection', /connection failed/, always('reset')],
    ['serves another chain', /chain id 97 instead of 56/, changed('eth_chainId', () => '0x61')],
    ['has no chain id', /no chain id/, changed('eth_chainId', () => null)],
  ];

  for (const [name, reason, fault] of faults) {
    it(`reads the block elsewhere when an endpoint ${name}, and says so`, async () => {
      bad.fault = fault;
      expectComplete(await readerOf(pool([bad.url, good.url])).scan(number, watched, signal));
      expect(reports.join()).to.match(reason);

      const alone = await failureOf(readerOf(pool([bad.url])).scan(number, watched, signal));
      expect(alone).to.be.instanceOf(name === 'serves another chain' ? ChainMismatch : RpcUnavailable);
      expect(alone.message).to.match(reason);
    });
  }

  it('credits nothing of an answer that is too large, and does not keep it', async () => {
    const big = changed('eth_getBlockReceipts', () => 'x'.repeat(3_000_000));
    bad.fault = big;
    const rpc = pool([bad.url], { maxResponseBytes: 1_048_576 });
    expect((await failureOf(readerOf(rpc).scan(number, watched, signal))).message).to.match(/answer larger than 1 MiB/);
  });

  it('reads one block from one endpoint only', async () => {
    const reader = readerOf(pool([bad.url, good.url]));
    expectComplete(await reader.scan(number, watched, signal)); // The first one also finds out whether the endpoint traces.
    bad.calls.length = 0;
    for (let i = 0; i < 3; i++) expectComplete(await reader.scan(number, watched, signal));
    expect(bad.calls.map((call) => call.method)).to.deep.equal(
      Array(3).fill(['eth_getBlockByNumber', 'eth_getBlockReceipts', 'trace_block']).flat(),
    );
    expect(good.calls.filter((call) => call.method.startsWith('eth_getBlock'))).to.deep.equal([]);
  });

  it('comes back to an endpoint that answers again, after a pause', async () => {
    const rpc = pool([bad.url, good.url], { probeEveryMs: 100 });
    bad.fault = always({ status: 502, body: '' });
    await readerOf(rpc).header(number, signal);
    expect(rpc.status()[0]?.problem).to.equal('http 502');
    bad.fault = undefined;
    bad.calls.length = 0;
    await readerOf(rpc).header(number, signal);
    expect(bad.calls).to.deep.equal([]);
    for (let i = 0; i < 40 && rpc.status()[0]?.problem !== null; i++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      await readerOf(rpc).header(number, signal);
    }
    expect(rpc.status().map((endpoint) => endpoint.problem)).to.deep.equal([null, null]);
    expect(reports.at(-1)).to.match(/answers again/);
    good.calls.length = 0;
    await readerOf(rpc).header(number, signal);
    expect(
      good.calls.filter((call) => call.method !== 'eth_blockNumber'),
      'the first one is preferred again',
    ).to.deep.equal([]);
  });

  it('is not turned into a storm by a caller that retries at once', async () => {
    bad.fault = always({ status: 429, body: '' });
    const reader = readerOf(pool([bad.url]));
    const until = Date.now() + 1_500;
    while (Date.now() < until) await failureOf(reader.head(signal));
    expect(bad.calls.length).to.be.at.most(8);
  });

  it('keeps away as long as Retry-After says', async () => {
    bad.fault = always({ status: 429, body: '', headers: { 'retry-after': '2' } });
    const rpc = pool([bad.url, good.url], { random: () => 0 });
    await readerOf(rpc).header(number, signal);
    bad.fault = undefined;
    bad.calls.length = 0;
    const until = Date.now() + 1_500;
    while (Date.now() < until) {
      await readerOf(rpc).header(number, signal);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(bad.calls).to.deep.equal([]);
  });

  it('leaves an endpoint whose head stands still for one that is ahead', async () => {
    bad.fault = async (call, forward) => {
      if (call.method === 'eth_blockNumber') return { json: { id: call.id, result: '0x1' } };
      return call.params[0] === 'latest' ? { json: { ...(await forward()), id: call.id, result: staleHead } } : undefined;
    };
    const staleHead = await chain.anvil.rpc('eth_getBlockByNumber', ['0x1', false]);
    const rpc = pool([bad.url, good.url], { lagBlocks: 1, probeEveryMs: 0 });
    const reader = readerOf(rpc);
    await reader.head(signal);
    for (let i = 0; i < 20 && (await reader.head(signal)).number < number; i++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await reader.head(signal)).number).to.be.at.least(number);
    expect(rpc.status()[0]?.problem).to.match(/blocks behind the best endpoint/);
    good.fault = always({ status: 500, body: '' });
    expect((await reader.head(signal)).number, 'the one that lags is better than none').to.equal(1);
  });

  it('asks another endpoint for a block that the first one does not have yet', async () => {
    bad.fault = changed('eth_getBlockByNumber', () => null);
    expectComplete(await readerOf(pool([bad.url, good.url])).scan(number, watched, signal));
  });

  it('does not call a transaction gone because one endpoint lags', async () => {
    const txHash = (await readerOf(pool([good.url])).scan(number, watched, signal))?.transfers[0]?.txHash ?? '';
    bad.fault = changed('eth_getTransactionReceipt', () => null);
    const reader = readerOf(pool([bad.url, good.url]));
    expect((await reader.locate(txHash, signal))?.blockNumber).to.equal(number);
    good.fault = always('hang');
    bad.fault = always('hang');
    expect(await failureOf(reader.locate(txHash, signal))).to.be.instanceOf(RpcUnavailable);
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
    expect(bad.requests.at(-1)?.headers.authorization).to.equal(`Basic ${Buffer.from('user:p@ssw0rd').toString('base64')}`);
  });

  it('asks for compressed answers', async () => {
    await readerOf(pool([bad.url])).head(signal);
    expect(bad.requests.at(-1)?.headers['accept-encoding']).to.match(/gzip/);
  });

  it('refuses to start when one of several endpoints serves another chain, but not when one is away', async () => {
    const urls = [good.url, bad.url];
    bad.fault = changed('eth_chainId', () => '0x1');
    const error = await failureOf(readerOf(pool(urls)).checkIdentity(signal));
    expect(error).to.be.instanceOf(ChainMismatch);
    expect(error.message).to.match(/serves chain id 1 instead of 56: correct the RPC URL or the chain id$/);
    bad.fault = always('hang');
    await readerOf(pool(urls)).checkIdentity(signal);
  });

  it('refuses endpoint lists that can not be meant, without repeating the URL', () => {
    expect(() => pool([])).to.throw('1 to 16 RPC endpoints');
    expect(() => pool(Array(17).fill(good.url))).to.throw('1 to 16 RPC endpoints');
    expect(() => pool(['SECRET'])).to.throw(/not a URL: write it as https:\/\/host\/path$/);
    expect(() => pool(['ws://host/SECRET'])).to.throw(/host must be an http or https URL$/);
  });

  it('stops in the middle of a hanging call when it is told to', async () => {
    bad.fault = always('hang');
    const abort = new AbortController();
    const reading = failureOf(readerOf(pool([bad.url], { timeoutMs: 60_000 })).head(abort.signal));
    setTimeout(() => abort.abort(new Error('shutting down')), 50);
    expect((await reading).message).to.equal('shutting down');
  });
});
