import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../../dev/support/chain.ts';
import {
  type Answer,
  type FaultProxy,
  type RpcCall,
  startFaultProxy,
} from '../../dev/support/fault-proxy.ts';
import { RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import type { RpcPoolOptions } from '../../src/chains/rpc/json-rpc.ts';
import { createRpcPool, type RpcPool } from '../../src/chains/rpc/json-rpc.ts';

const { signal } = new AbortController();
const PER_SECOND = 200;
/** What a caller waits for after a failure, as the watcher does. */
const PATIENCE_MS = 1_000;
const TIMEOUT_MS = 5_000;

const TROUBLE: readonly [name: string, answer: (call: RpcCall) => Answer][] = [
  ['429', () => ({ status: 429, body: '' })],
  [
    '-32005',
    (call) => ({ json: { jsonrpc: '2.0', id: call.id, error: { code: -32005, message: 'limit exceeded' } } }),
  ],
  ['503', () => ({ status: 503, body: '' })],
  ['resets', () => 'reset'],
  ['hangs', () => 'hang'],
  ['HTML', () => ({ status: 200, body: '<!doctype html>' })],
  ['cut answers', () => 'cut'],
];

/** Time that passes only where somebody waits. */
function madeUpClock() {
  let nowMs = 0;
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
  };
  return { now: () => nowMs, pause: pass, pass };
}

describe('trouble at the only endpoint', function () {
  this.timeout(60_000);
  let chain: TestChain;
  let proxy: FaultProxy;
  before(async () => {
    chain = await startTestChain();
    proxy = await startFaultProxy(chain.url);
  });
  after(async () => {
    await proxy.stop();
    await chain.stop();
  });

  function scene(options: Partial<RpcPoolOptions> = {}) {
    const clock = madeUpClock();
    const { now, pause } = clock;
    const rpc = createRpcPool({
      name: 'bsc',
      urls: [proxy.url],
      chainId: TEST_CHAIN_ID,
      requestsPerSecond: PER_SECOND,
      now,
      pause,
      ...options,
    });
    return { clock, rpc };
  }

  /** Asks until the endpoint answers; returns how often it was refused. */
  async function untilAnswered(rpc: RpcPool, clock: ReturnType<typeof madeUpClock>): Promise<number> {
    for (let failed = 0; ; failed++) {
      try {
        await rpc.run((session) => session.call('eth_blockNumber', []), signal);
        return failed;
      } catch (error) {
        if (!(error instanceof RpcUnavailable)) throw error;
        await clock.pass(PATIENCE_MS);
      }
    }
  }

  async function trouble(
    rpc: RpcPool,
    clock: ReturnType<typeof madeUpClock>,
    lastsMs: number,
    answer: (call: RpcCall) => Answer,
  ) {
    const endsAt = clock.now() + lastsMs;
    let asked = 0;
    proxy.fault = async (call) => {
      if (clock.now() >= endsAt) return undefined;
      asked += 1;
      const fault = answer(call);
      if (fault === 'hang') await clock.pass(TIMEOUT_MS);
      return fault;
    };
    await untilAnswered(rpc, clock);
    return { asked, overMs: clock.now() - endsAt };
  }

  async function timeOf(rpc: RpcPool, clock: ReturnType<typeof madeUpClock>, calls: number): Promise<number> {
    const from = clock.now();
    for (let i = 0; i < calls; i++) await rpc.run((session) => session.call('eth_blockNumber', []), signal);
    return clock.now() - from;
  }

  for (const [name, answer] of TROUBLE) {
    for (const seconds of [12, name === 'hangs' ? 60 : 600]) {
      it(`ends when it ends: ${seconds} s of ${name}`, async () => {
        const { rpc, clock } = scene({ timeoutMs: name === 'hangs' ? 1_000 : 10_000 });
        await timeOf(rpc, clock, 50);
        const { asked, overMs } = await trouble(rpc, clock, seconds * 1_000, answer);
        // One question that was asked before the end may still hang after it.
        expect(overMs, 'the end is noticed').to.be.below(name === 'hangs' ? 7_000 + TIMEOUT_MS : 7_000);
        expect(asked, 'and nobody stormed it until then').to.be.at.most(8 + seconds);
        expect(await timeOf(rpc, clock, 2 * PER_SECOND), 'asked as fast as was configured').to.be.below(
          2_100,
        );
        expect(rpc.status()[0]).to.include({ problem: null, requestsPerSecond: PER_SECOND });
      });
    }
  }

  it('ends when it ends, also ten times in a row', async () => {
    const { rpc, clock } = scene();
    for (let i = 0; i < 10; i++) {
      const [, answer] = TROUBLE[i % 4] as (typeof TROUBLE)[number];
      expect((await trouble(rpc, clock, 12_000, answer)).overMs).to.be.below(7_000);
      expect(await timeOf(rpc, clock, PER_SECOND)).to.be.below(1_100);
      await clock.pass(3_000);
    }
  });

  it('is left alone for as long as the endpoint wishes, in seconds or until a date', async () => {
    const wishes: readonly Record<string, string>[] = [
      { 'retry-after': '20' },
      { date: 'Sun, 22 Nov 2026 08:00:00 GMT', 'retry-after': 'Sun, 22 Nov 2026 08:00:20 GMT' },
    ];
    for (const headers of wishes) {
      const { rpc, clock } = scene();
      const { asked, overMs } = await trouble(rpc, clock, 12_000, () => ({ status: 429, body: '', headers }));
      expect(asked).to.equal(1);
      expect(overMs).to.be.within(8_000, 8_002);
    }
  });

  it('is asked once a minute by one that wishes to be left alone for a day', async () => {
    const { rpc, clock } = scene();
    const { asked } = await trouble(rpc, clock, 600_000, () => ({
      status: 429,
      body: '',
      headers: { 'retry-after': '86400' },
    }));
    expect(asked).to.equal(10);
  });
});
