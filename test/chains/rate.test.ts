import { expect } from 'chai';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../../dev/support/chain.ts';
import { type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { createBscReader } from '../../src/chains/bsc/reader.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { createRate } from '../../src/chains/rpc/rate.ts';

/**
 * Sends as fast as the bucket lets it for some seconds of a made-up
 * clock; `limit` is what the endpoint accepts in each second.
 */
function simulate(
  seconds: number,
  options: { perSecond: number; burst: number; limit: number },
): { accepted: number; refused: number } {
  let nowMs = 0;
  const rate = createRate({ perSecond: options.perSecond, burst: options.burst, now: () => nowMs });
  let accepted = 0;
  let refused = 0;
  let window = { second: -1, count: 0 };
  while (nowMs < seconds * 1_000) {
    nowMs += rate.takeMs() + 0.01;
    const second = Math.floor(nowMs / 1_000);
    if (window.second !== second) window = { second, count: 0 };
    window.count++;
    if (window.count <= options.limit) {
      accepted++;
      rate.answered();
    } else {
      refused++;
      rate.refused();
      // The pool leaves a refusing endpoint alone for about this long.
      nowMs += 750;
    }
  }
  return { accepted, refused };
}

describe('how fast an endpoint is asked', () => {
  it('never exceeds the rate for long, and lets a burst through after a quiet time', () => {
    const { accepted } = simulate(10, { perSecond: 30, burst: 10, limit: 1_000 });
    expect(accepted).to.be.within(295, 311);
  });

  it('uses nearly all of a limit that it was never told', () => {
    const { accepted, refused } = simulate(600, { perSecond: 200, burst: 50, limit: 33 });
    expect(accepted).to.be.at.least(Math.floor(0.85 * 600 * 33));
    expect(refused).to.be.at.most(90);
  });

  it('uses all of a limit that it was told', () => {
    const { accepted, refused } = simulate(60, { perSecond: 33, burst: 1, limit: 33 });
    expect(accepted).to.be.at.least(Math.floor(0.97 * 60 * 33));
    expect(refused).to.be.at.most(2);
  });

  it('is not slowed down by a single refusal', () => {
    let nowMs = 0;
    const rate = createRate({ perSecond: 200, burst: 50, now: () => nowMs });
    for (; nowMs < 10_000; nowMs += 400) rate.answered();
    rate.refused();
    expect(rate.perSecond()).to.equal(200);
  });

  it('is not slowed down where everything is refused for a while, however often that happens', () => {
    let nowMs = 0;
    const rate = createRate({ perSecond: 200, burst: 50, now: () => nowMs });
    for (let fault = 0; fault < 10; fault++) {
      for (const until = nowMs + 12_000; nowMs < until; nowMs += 1_000) {
        rate.takeMs();
        rate.refused();
      }
      expect([rate.perSecond(), rate.waitMs()], `after fault ${fault}`).to.deep.equal([200, 0]);
      for (const until = nowMs + 5_000; nowMs < until; nowMs += 20) rate.answered();
    }
  });

  it('learns a limit that is met twice, and has forgotten it within seconds', () => {
    let nowMs = 0;
    const rate = createRate({ perSecond: 200, burst: 50, now: () => nowMs });
    for (let hit = 0; hit < 2; hit++) {
      for (let i = 0; i < 30; i++) rate.answered();
      rate.refused();
      nowMs += 1_000;
    }
    expect(rate.perSecond()).to.be.within(27, 30);
    for (let i = 0; i < 100; i++) rate.takeMs();
    nowMs += 5_000;
    expect([rate.perSecond(), rate.waitMs()], 'whoever queued for it holds nobody up').to.deep.equal([
      200, 0,
    ]);
  });

  it('keeps a limit that proves true longer and longer, and never longer than a minute', () => {
    let nowMs = 0;
    const rate = createRate({ perSecond: 200, burst: 50, now: () => nowMs });
    const held: number[] = [];
    for (let hit = 0; hit < 9; hit++) {
      for (let i = 0; i < 30; i++) rate.answered();
      rate.refused();
      const from = nowMs;
      nowMs += 1_000;
      while (rate.perSecond() < 200) nowMs += 100;
      held.push((nowMs - from) / 1_000);
    }
    expect(held).to.deep.equal([1, 5, 10, 20, 40, 60, 60, 60, 60]);
  });

  it('goes down quickly where a limit was taken for larger than it is', () => {
    let nowMs = 0;
    const rate = createRate({ perSecond: 200, burst: 50, now: () => nowMs });
    for (const answers of [60, 60, 30]) {
      for (let i = 0; i < answers; i++) rate.answered();
      rate.refused();
      nowMs += 1_100;
    }
    expect(rate.perSecond()).to.be.within(20, 50);
  });

  describe('against a real node with a budget', () => {
    const { signal } = new AbortController();
    let chain: TestChain;
    let proxy: FaultProxy;
    before(async () => {
      chain = await startTestChain();
      await chain.mine(400);
      proxy = await startFaultProxy(chain.url);
    });
    after(async () => {
      await proxy.stop();
      await chain.stop();
    });

    it('reads on at the rate that was configured, and is refused nothing', async () => {
      const served: number[] = [];
      proxy.fault = (call) => {
        const now = performance.now();
        while ((served[0] ?? now) < now - 1_000) served.shift();
        if (served.length >= 60)
          return {
            json: { jsonrpc: '2.0', id: call.id, error: { code: -32005, message: 'limit exceeded' } },
          };
        served.push(now);
        return undefined;
      };
      const reports: string[] = [];
      const rpc = createRpcPool({
        name: 'bsc',
        urls: [proxy.url],
        chainId: TEST_CHAIN_ID,
        requestsPerSecond: 50,
        burst: 5,
        report: (message) => reports.push(message),
      });
      const reader = createBscReader({ rpc, usdtContract: chain.usdt.address });
      const startedMs = performance.now();
      let next = 1;
      const work = async () => {
        while (next <= 150) await reader.scan(next++, new AddressSet(), signal);
      };
      await Promise.all([work(), work(), work(), work(), work(), work()]);
      const perSecond = (proxy.calls.length / (performance.now() - startedMs)) * 1_000;
      expect(reports).to.deep.equal([]);
      expect(perSecond, 'a busy machine may be slower than the rate').to.be.within(20, 56);
    }).timeout(60_000);
  });
});
