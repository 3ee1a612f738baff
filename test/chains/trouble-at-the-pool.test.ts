import { expect } from 'chai';
import { TEST_CHAIN_ID } from '../../dev/support/chain.ts';
import {
  type Answer,
  type FaultProxy,
  type RpcCall,
  startFaultProxy,
} from '../../dev/support/fault-proxy.ts';
import { RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { madeUpClock } from './tron/endpoints/node.ts';

const { signal } = new AbortController();
const PER_SECOND = 50;
/** What a caller waits for after a failure, as the watcher does. */
const PATIENCE_MS = 1_000;

type Trouble = { readonly answer: (call: RpcCall) => Answer };
const TROUBLE: Readonly<Record<string, Trouble>> = {
  'http 429': { answer: () => ({ status: 429, body: '' }) },
  '-32005': { answer: ({ id }) => ({ json: { id, error: { code: -32005, message: 'limit exceeded' } } }) },
  'http 503': { answer: () => ({ status: 503, body: '' }) },
};

const well = ({ id, method }: RpcCall): Answer => ({
  json: { id, result: method === 'eth_chainId' ? '0x38' : '0x1' },
});

/** By a clock that moves only where somebody waits, and without a node: the endpoint answers itself. */
describe('trouble at the only endpoint', () => {
  let proxy: FaultProxy;
  before(async () => {
    proxy = await startFaultProxy('http://127.0.0.1:1');
  });
  after(() => proxy?.stop());

  function scene() {
    const clock = madeUpClock();
    const { now, pause } = clock;
    const rpc = createRpcPool({
      name: 'bsc',
      urls: [proxy.url],
      chainId: TEST_CHAIN_ID,
      requestsPerSecond: PER_SECOND,
      timeoutMs: 30_000,
      random: () => 0.5,
      ...clock,
    });
    const ask = () => rpc.run((session) => session.call('eth_blockNumber', []), signal);
    /** How long so many calls take; nothing errs any more. */
    const timeOf = async (calls: number): Promise<number> => {
      proxy.fault = well;
      const from = now();
      for (let nth = 0; nth < calls; nth++) await ask();
      return now() - from;
    };
    /** Asks until the endpoint answers, as it does after this time: how often, how late that is noticed. */
    const trouble = async (lastsMs: number, { answer }: Trouble) => {
      const endsAt = now() + lastsMs;
      let asked = 0;
      proxy.fault = async (call) => {
        if (now() >= endsAt) return well(call);
        asked += 1;
        return answer(call);
      };
      for (;;) {
        const failure = await ask().then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure === undefined) return { asked, overMs: now() - endsAt };
        expect(failure).to.be.instanceOf(RpcUnavailable);
        await pause(PATIENCE_MS);
      }
    };
    return { rpc, timeOf, trouble };
  }

  for (const [name, kind] of Object.entries(TROUBLE))
    it(`ends when it ends: 12 s and 10 minutes of ${name}`, async () => {
      for (const seconds of [12, 600]) {
        const { rpc, timeOf, trouble } = scene();
        await timeOf(50);
        const { asked, overMs } = await trouble(seconds * 1_000, kind);
        expect(overMs, 'the end is noticed').to.be.below(7_000);
        expect(asked, 'and nobody stormed it until then').to.be.within(2, 8 + seconds);
        expect(await timeOf(2 * PER_SECOND), 'asked as fast as was configured').to.be.within(900, 2_100);
        expect(rpc.status()[0]).to.include({ problem: null, requestsPerSecond: PER_SECOND });
      }
    });
});
