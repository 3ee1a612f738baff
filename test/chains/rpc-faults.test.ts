import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { TEST_CHAIN_ID, USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type Answer, type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { always, BLOCK_FAULTS, changed } from '../../dev/support/faults.ts';
import { ChainMismatch, RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import { createRpcPool, type RpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { ALICE, BOB, bscScene, STRANGER, signal } from './bsc-scene.ts';
import { failureOf } from './conformance/scene.ts';
import { madeUpClock } from './tron/endpoints/node.ts';

const height = (rpc: RpcPool) => rpc.run((session) => session.call('eth_blockNumber', []), signal);
const problemsOf = (rpc: RpcPool) => rpc.status().map(({ problem }) => problem);
const hostOf = ({ url }: FaultProxy) => new URL(url).host;
const methodsOf = ({ calls }: FaultProxy) => calls.map(({ method }) => method);

describe('endpoints that fail, lie or lag', () => {
  const the = bscScene({ endpoints: 2 });
  let bad: FaultProxy;
  let good: FaultProxy;
  let number: number;
  before(async () => {
    [bad, good] = the.proxies as [FaultProxy, FaultProxy];
    await the.chain.usdt.call('transfer', [ALICE, 5n * USDT_UNIT]);
    await the.chain.send({ to: BOB, valueUnits: 3n });
    await the.chain.usdt.call('transfer', [STRANGER, 1n]);
    number = await the.chain.mine();
  });
  const paidIn = async (rpc: RpcPool) =>
    (await the.scan(the.readerOf(rpc), number)).transfers.map(({ amountUnits }) => amountUnits);
  const PAID = [5n * USDT_UNIT, 3n];

  for (const [name, said, fault] of BLOCK_FAULTS)
    it(`are not believed: one that ${name}, another is read, and the report says why`, async () => {
      const isLate = String(said).includes('no answer');
      const reason = isLate ? /no answer within 1 s/ : said;
      const timeoutMs = isLate ? 1_000 : 20_000;
      bad.fault = fault;
      expect(await paidIn(the.poolOf([bad, good], { timeoutMs }))).to.deep.equal(PAID);
      expect(the.reports.join()).to.match(reason);
      const alone = await failureOf(paidIn(the.poolOf([bad], { timeoutMs })));
      expect(alone).to.be.instanceOf(name === 'serves another chain' ? ChainMismatch : RpcUnavailable);
      expect(String(alone)).to.match(reason);
    });

  it('are heard up to a size, also of what is unpacked, and asked for packed answers', async () => {
    const body = gzipSync(Buffer.alloc(30 * 1_048_576, 32), { level: 1 });
    expect(body.byteLength).to.be.below(1_048_576);
    const packed: Answer = { status: 200, headers: { 'content-encoding': 'gzip' }, body };
    for (const fault of [changed('eth_getBlockReceipts', () => 'x'.repeat(3_000_000)), always(packed)]) {
      bad.fault = fault;
      const rpc = the.poolOf([bad], { maxResponseBytes: 1_048_576, timeoutMs: 20_000 });
      expect(String(await failureOf(paidIn(rpc)))).to.match(/answer larger than 1 MiB/);
    }
    expect(bad.requests.at(-1)?.headers['accept-encoding']).to.match(/gzip/);
  });

  it('are asked again on a new connection where a kept one was closed at the moment of its use, once', async () => {
    const rpc = the.poolOf([bad]);
    await height(rpc);
    let resets = 1;
    bad.fault = () => (resets-- > 0 ? 'reset' : undefined);
    bad.calls.length = 0;
    expect(await height(rpc)).to.match(/^0x/);
    expect([problemsOf(rpc), bad.calls.length]).to.deep.equal([[null], 2]);
    await height(rpc);
    resets = 5;
    bad.calls.length = 0;
    expect(String(await failureOf(height(rpc)))).to.match(/connection failed/);
    expect(bad.calls, 'twice for one question at most').to.have.length(2);
  });

  it('are asked for their chain again after a connection broke: another node may answer now', async () => {
    const rpc = the.poolOf([bad], madeUpClock());
    await height(rpc);
    bad.fault = always({ status: 502, body: '' });
    await failureOf(height(rpc));
    bad.fault = changed('eth_chainId', () => '0x61');
    expect(await failureOf(height(rpc))).to.be.instanceOf(ChainMismatch);
    expect(problemsOf(rpc)).to.deep.equal(['chain id 97 instead of 56']);
  });

  it('give a block whole: no part of it is of another one', async () => {
    const reader = the.readerOf();
    // The first read also finds out whether the endpoint traces.
    await the.scan(reader, number);
    bad.calls.length = 0;
    good.calls.length = 0;
    for (let nth = 0; nth < 3; nth++) await the.scan(reader, number);
    const whole = ['eth_getBlockByNumber', 'eth_getBlockReceipts', 'trace_block'];
    expect(methodsOf(bad)).to.deep.equal([...whole, ...whole, ...whole]);
    expect(methodsOf(good).filter((method) => method !== 'eth_blockNumber')).to.deep.equal([]);
  });

  it('are left alone for a while, and the first one is preferred again when it answers', async () => {
    const clock = madeUpClock();
    const rpc = the.poolOf([bad, good], { probeEveryMs: 60_000, random: () => 0.5, ...clock });
    bad.fault = always({ status: 502, body: '' });
    await height(rpc);
    expect(problemsOf(rpc)).to.deep.equal(['http 502', null]);
    bad.fault = undefined;
    bad.calls.length = 0;
    await height(rpc);
    expect(methodsOf(bad)).to.deep.equal([]);
    await clock.pause(60_000);
    await eventually('its return', async () => (await height(rpc)) && problemsOf(rpc)[0] === null);
    expect(the.reports.at(-1)).to.match(/answers again/);
    good.calls.length = 0;
    await rpc.run((session) => session.call('eth_gasPrice', []), signal);
    expect(methodsOf(good)).not.to.include('eth_gasPrice');
  });

  it('are left for one that is ahead where their head stands still, and are better than none', async () => {
    const stale = await the.chain.anvil.rpc('eth_getBlockByNumber', ['0x1', false]);
    bad.fault = (call) => {
      const result = call.method === 'eth_blockNumber' ? '0x1' : stale;
      const isHead = call.method === 'eth_blockNumber' || call.params[0] === 'latest';
      return isHead ? { json: { id: call.id, result } } : undefined;
    };
    const rpc = the.poolOf([bad, good], { lagBlocks: 1, probeEveryMs: 0 });
    const reader = the.readerOf(rpc);
    await eventually('the head of the other one', async () => (await reader.head(signal)).number >= number);
    expect(problemsOf(rpc)[0]).to.match(/blocks behind the best endpoint/);
    good.fault = always({ status: 500, body: '' });
    expect((await reader.head(signal)).number).to.equal(1);
  });

  it('are each shown with what they lack: a block that they have passed, or a word on what is final', async () => {
    const wrong = { error: { code: -32602, message: 'unknown tag' } };
    bad.fault = ({ id, params: [tag] }) => {
      if (tag === 'finalized') return { json: { id, ...wrong } };
      return tag === '0x3' ? { json: { id, result: null } } : undefined;
    };
    const views = await the.readerOf().views(3, signal);
    expect(views.map(({ finalized, block }) => [finalized?.number, typeof block])).to.deep.equal([
      [undefined, 'string'],
      [(await the.chain.mine(0)) - 2, 'object'],
    ]);
    expect(views[0]?.block).to.equal('not there');
    bad.fault = () => 'reset';
    expect(await the.readerOf().views(3, signal), 'who does not answer').to.have.length(1);
  });

  it('are not taken for slow where they are asked for their head more rarely than blocks are made', async () => {
    const rpc = the.poolOf([bad, good], { lagBlocks: 1, ...madeUpClock() });
    const reader = the.readerOf(rpc);
    const from = (await reader.head(signal)).number;
    await eventually('the other one’s head', () => rpc.status()[1]?.headNumber === from);
    for (let nth = 0; nth < 4; nth++) {
      await the.chain.mine();
      await reader.head(signal);
    }
    const seen = rpc.status().map(({ headNumber, problem }) => [headNumber, problem]);
    expect(seen).to.deep.equal([
      [from + 4, null],
      [from, null],
    ]);
  });

  it('are passed over while they have no turn left for a while', async () => {
    const rpc = the.poolOf([bad, good], {
      requestsPerSecond: 2,
      burst: 2,
      now: () => 0,
      pause: async () => {},
    });
    for (let nth = 0; nth < 4; nth++) await height(rpc);
    expect([bad, good].map((proxy) => proxy.calls.length > 1)).to.deep.equal([true, true]);
  });

  it('are refused at the start where one serves another chain, and not where one is away', async () => {
    bad.fault = changed('eth_chainId', () => '0x1');
    const failure = await failureOf(the.readerOf([good, bad]).checkIdentity(signal));
    expect(failure).to.be.instanceOf(ChainMismatch);
    expect(String(failure)).to.match(/serves chain id 1 instead of 56: correct the RPC URL or the chain id$/);
    bad.fault = always({ status: 503, body: '' });
    await the.readerOf([good, bad]).checkIdentity(signal);
  });

  it('are told of in one sentence, the same each time', async () => {
    const gone = await startFaultProxy(the.chain.url);
    await gone.stop();
    bad.fault = always({ status: 429, body: '' });
    const { message } = (await failureOf(the.readerOf([bad, gone]).head(signal))) as Error;
    expect(message).to.equal(
      `no RPC endpoint answers for bsc: http 429 from 1 of 2 (${hostOf(bad)}), connection failed (ECONNREFUSED) from 1 of 2 (${hostOf(gone)})`,
    );
  });

  it('never show a key that is part of their URL, and get it', async () => {
    const url = `http://user:p%40ssw0rd@${hostOf(bad)}/v3/SECRETPATHKEY?apikey=SECRETQUERY`;
    const rpc = the.poolOf([{ ...bad, url }]);
    const message = `project SECRETPATHKEY, key SECRETQUERY, p@ssw0rd of https://${hostOf(bad)}/v3/SECRETPATHKEY is over its limit`;
    bad.fault = ({ id }) => ({ json: { id, error: { code: -32000, message } } });
    const failure = (await failureOf(height(rpc))) as Error;
    const shown = [failure.message, failure.stack, ...the.reports, JSON.stringify(rpc.status())].join('\n');
    expect(shown)
      .to.match(/project \*\*\*, key \*\*\*/)
      .and.not.match(/SECRET|ssw0rd/);
    const { path, headers } = bad.requests.at(-1) ?? {};
    const authorization = `Basic ${Buffer.from('user:p@ssw0rd').toString('base64')}`;
    expect([path, headers?.authorization]).to.deep.equal([
      '/v3/SECRETPATHKEY?apikey=SECRETQUERY',
      authorization,
    ]);
  });

  it('are refused where their list can not be meant, without repeating a URL', () => {
    for (const [urls, said] of [
      [[], /1 to 16 RPC endpoints/],
      [Array(17).fill('http://127.0.0.1:1'), /1 to 16 RPC endpoints/],
      [['SECRET'], /not a URL: write it as https:\/\/host\/path$/],
      [['ws://host/SECRET'], /host must be an http or https URL$/],
    ] as const)
      expect(() => createRpcPool({ name: 'bsc', urls, chainId: TEST_CHAIN_ID })).to.throw(said);
  });
});
