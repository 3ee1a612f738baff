import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { type Answer, type Fault, type FaultProxy, firstOf } from '../../dev/support/fault-proxy.ts';
import { changed } from '../../dev/support/faults.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import type { RpcPoolOptions } from '../../src/chains/rpc/json-rpc.ts';
import { NO_TRACES, without } from '../services/watcher/test-watcher.ts';
import { ALICE, bscScene } from './bsc-scene.ts';
import { failureOf } from './conformance/scene.ts';

const lacking =
  (code: number, message: string, status = 200): Fault =>
  ({ method, id }) => {
    if (method !== 'eth_getBlockReceipts') return undefined;
    const json = { jsonrpc: '2.0', id, error: { code, message } };
    return status === 200 ? { json } : { status, body: JSON.stringify(json) };
  };
const LACKING = without('eth_getBlockReceipts', ...NO_TRACES);

/** How endpoints say that they do not offer it. */
const WORDS: Readonly<Record<string, Fault>> = {
  '-32601': lacking(-32601, 'the method eth_getBlockReceipts does not exist/is not available'),
  'a plan that is too small': lacking(-32000, 'method not allowed, upgrade to a paid plan', 403),
  'a 404': lacking(-32601, 'rpc method is not whitelisted', 404),
};
/** How endpoints answer a batch that they do not take. */
const UNBATCHED: Readonly<Record<string, Answer>> = {
  'an error': {
    json: { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Batch requests are not supported' } },
  },
  'a 400': { status: 400, body: 'invalid request' },
};
const single = (change: (receipt: object) => unknown): Fault => changed('eth_getTransactionReceipt', change);
const WRONG: Readonly<Record<string, readonly [Fault, RegExp]>> = {
  'leaves logs out': [single((receipt) => ({ ...receipt, logs: [] })), /logs are missing/],
  'belongs to another block': [
    single((receipt) => ({ ...receipt, blockHash: `0x${'1'.repeat(64)}` })),
    /another block or transaction/,
  ],
  'is not there yet': [single(() => null), /another block or transaction/],
};

describe('a block of an endpoint without eth_getBlockReceipts', () => {
  const the = bscScene({ endpoints: 2 });
  let lame: FaultProxy;
  let whole: FaultProxy;
  /** More transactions than one batch takes, and a few. */
  const [MANY, FEW] = [61, 5];
  const numbers = new Map<number, number>();
  before(async () => {
    [lame, whole] = the.proxies as [FaultProxy, FaultProxy];
    for (const count of [MANY, FEW]) {
      for (let nth = 1; nth < count; nth++) await the.chain.send({ to: ALICE, valueUnits: 1n });
      await the.chain.usdt.call('transfer', [ALICE, 5n * USDT_UNIT]);
      numbers.set(count, await the.chain.mine());
    }
  });

  const readerOf = (proxies = [lame], options: Partial<RpcPoolOptions> = {}): ChainReader =>
    the.readerOf(the.poolOf(proxies, { burst: 200, timeoutMs: 20_000, ...options }));
  const isWhole = async (reader: ChainReader, count = FEW): Promise<boolean> => {
    const { transfers } = await the.scan(reader, numbers.get(count));
    return transfers.length === count && transfers.some(({ amountUnits }) => amountUnits === 5n * USDT_UNIT);
  };
  const forget = (): void => {
    for (const { calls, requests } of [lame, whole]) calls.length = requests.length = 0;
  };
  const asked = (method: string) => lame.calls.filter((call) => call.method === method).length;
  /** Single receipts that were asked for, and in how many requests. */
  const singles = () => {
    const count = asked('eth_getTransactionReceipt');
    return { count, posts: lame.requests.length - (lame.calls.length - count) };
  };

  for (const [words, fault] of Object.entries(WORDS))
    it(`is read by batches of single receipts where it says ${words}, and the report says so once`, async () => {
      lame.fault = firstOf(fault, without(...NO_TRACES));
      const reader = readerOf();
      expect([await isWhole(reader), singles()]).to.deep.equal([true, { count: FEW, posts: 1 }]);
      expect([await isWhole(reader), asked('eth_getBlockReceipts')]).to.deep.equal([true, 1]);
      expect(the.reports.filter((line) => line.includes('eth_getBlockReceipts'))).to.have.length(1);
    });

  for (const [name, answer] of Object.entries(UNBATCHED))
    it(`is read by single calls where batches are answered with ${name}`, async () => {
      lame.fault = LACKING;
      lame.batchFault = () => answer;
      const reader = readerOf();
      expect(await isWhole(reader)).to.equal(true);
      forget();
      expect(await isWhole(reader), 'and no batch is tried for each block').to.equal(true);
      expect(singles()).to.deep.equal({ count: FEW, posts: FEW });
    });

  for (const [name, [fault, reason]] of Object.entries(WRONG))
    it(`is not taken where a receipt ${name}`, async () => {
      lame.fault = firstOf(LACKING, fault);
      const failure = await failureOf(isWhole(readerOf()));
      expect(failure).to.be.instanceOf(RpcUnavailable);
      expect(String(failure)).to.match(reason);
    });
});
