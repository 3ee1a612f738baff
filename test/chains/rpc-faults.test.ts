import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import type { Answer, FaultProxy } from '../../dev/support/fault-proxy.ts';
import { always, BLOCK_FAULTS, changed } from '../../dev/support/faults.ts';
import { ChainMismatch, RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import type { RpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { ALICE, BOB, bscScene, STRANGER, signal } from './bsc-scene.ts';
import { failureOf } from './conformance/scene.ts';
import { madeUpClock } from './tron/endpoints/node.ts';

const height = (rpc: RpcPool) => rpc.run((session) => session.call('eth_blockNumber', []), signal);
const problemsOf = (rpc: RpcPool) => rpc.status().map(({ problem }) => problem);
const hostOf = ({ url }: FaultProxy) => new URL(url).host;
const methodsOf = ({ calls }: FaultProxy) => calls.map(({ method }) => method);

/** Every hex text of an answer in capital letters, its prefix too. */
function shouted(value: unknown): unknown {
  if (typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)) return value.toUpperCase();
  if (Array.isArray(value)) return value.map(shouted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shouted(one)]));
}

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

  it('show the very same block where they write hex in capital letters', async () => {
    const plain = await the.scan(the.readerOf([bad]), number);
    expect(plain.transfers.map(({ amountUnits }) => amountUnits)).to.deep.equal(PAID);
    bad.fault = async (_, forward) => {
      const answer = await forward();
      return { json: { ...answer, result: shouted(answer.result) } };
    };
    expect(await the.scan(the.readerOf([bad]), number)).to.deep.equal(plain);
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
});
