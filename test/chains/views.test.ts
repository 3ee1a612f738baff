import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../../dev/support/chain.ts';
import { type Fault, type FaultProxy, type RpcCall, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { behind } from './conformance/bsc-stage.ts';

const { signal } = new AbortController();
const hex = (number: number): string => `0x${number.toString(16)}`;
const refused = (call: RpcCall) => ({
  json: { jsonrpc: '2.0', id: call.id, error: { code: -32602, message: 'unknown tag' } },
});

describe('one height as every endpoint sees it', () => {
  let chain: TestChain;
  let proxies: FaultProxy[];
  let reader: ChainReader;
  let head: number;

  before(async () => {
    chain = await startTestChain({ slotsInAnEpoch: 1 });
    head = await chain.mine(10);
    proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy(chain.url)));
    const rpc = createRpcPool({
      name: 'bsc',
      urls: proxies.map(({ url }) => url),
      chainId: TEST_CHAIN_ID,
      timeoutMs: 300,
    });
    reader = createBscReader({ rpc, usdtContract: chain.usdt.address });
  });
  after(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await chain.stop();
  });
  beforeEach(() => {
    for (const proxy of proxies) proxy.fault = undefined;
  });
  const hostOf = (index: number): string => new URL(proxies[index]?.url ?? '').host;
  const view = (index: number, fault: Fault): void => {
    const proxy = proxies[index];
    if (proxy) proxy.fault = fault;
  };

  it('comes with the host, its head and its finality, and calls unknown what lies above that head', async () => {
    view(1, behind(head - 5, chain.anvil.rpc));
    view(2, async (call) => (call.params[0] === 'finalized' ? refused(call) : undefined));
    const hash = (await reader.header(head, signal))?.hash;
    const views = await reader.views(head, signal);
    expect(views.map(({ host }) => host)).to.deep.equal([hostOf(0), hostOf(1), hostOf(2)]);
    expect(views.map(({ head: { number } }) => number)).to.deep.equal([head, head - 5, head]);
    expect(views.map(({ finalized }) => finalized?.number ?? null)).to.deep.equal([head - 2, head - 7, null]);
    expect(views.map(({ block }) => (typeof block === 'string' ? block : block.hash))).to.deep.equal([
      hash,
      'above its head',
      hash,
    ]);
  });

  it('says "not there" of a height that an endpoint has passed and does not have', async () => {
    view(0, (call) =>
      call.params[0] === hex(3) ? { json: { jsonrpc: '2.0', id: call.id, result: null } } : undefined,
    );
    const views = await reader.views(3, signal);
    expect(views.map(({ block }) => typeof block === 'string' && block)).to.deep.equal([
      'not there',
      false,
      false,
    ]);
  });

  it('leaves out who does not answer, and fails where nobody does', async () => {
    view(0, () => 'hang');
    expect((await reader.views(3, signal)).map(({ host }) => host)).to.deep.equal([hostOf(1), hostOf(2)]);
    for (const index of [0, 1, 2]) view(index, () => 'reset');
    expect(await reader.views(3, signal).catch((error: unknown) => error)).to.be.instanceOf(RpcUnavailable);
  });

  it('names the host of a head and of a finalized block', async () => {
    expect(await reader.head(signal)).to.include({ number: head });
    expect([hostOf(0), hostOf(1), hostOf(2)]).to.include((await reader.finalized(signal)).host);
  });
});
