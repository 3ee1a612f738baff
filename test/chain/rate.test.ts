import { expect } from 'chai';
import { AddressSet } from '../../src/chain/address-set.ts';
import { createBscReader } from '../../src/chain/bsc.ts';
import { createRate } from '../../src/chain/rate.ts';
import { createRpcPool } from '../../src/chain/rpc.ts';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../support/chain.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';

/** Sends as fast as the bucket lets it for some seconds of a made-up clock; `limit` is what the endpoint accepts in each second. */
function simulate(seconds: number, options: { perSecond: number; burst: number; limit: number }): { accepted: number; refused: number } {
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
    if (window.count <= options.limit) accepted++;
    else {
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
    expect(refused).to.be.at.most(60);
  });

  it('uses all of a limit that it was told', () => {
    const { accepted, refused } = simulate(60, { perSecond: 33, burst: 1, limit: 33 });
    expect(accepted).to.be.at.least(Math.floor(0.97 * 60 * 33));
    expect(refused).to.be.at.most(2);
  });

  it('is asked as before within a minute of a refusal in a quiet moment', () => {
    let nowMs = 0;
    const rate = createRate({ perSecond: 200, burst: 50, now: () => nowMs });
    for (; nowMs < 10_000; nowMs += 400) rate.takeMs();
    rate.refused();
    expect(rate.perSecond()).to.be.at.most(3);
    for (const until = nowMs + 50_000; nowMs < until; nowMs += 400) rate.takeMs();
    expect(rate.perSecond()).to.equal(200);
  });

  it('is asked as before within minutes even where refusals went on for a while', () => {
    let nowMs = 0;
    const rate = createRate({ perSecond: 200, burst: 50, now: () => nowMs });
    for (let i = 0; i < 100; i++) {
      nowMs += rate.takeMs() + 400;
      rate.refused();
    }
    expect(rate.perSecond()).to.be.at.most(2);
    for (const until = nowMs + 8 * 60_000; nowMs < until; nowMs += 1_000) rate.takeMs();
    expect(rate.perSecond()).to.equal(200);
  });

  it('takes refusals of requests that were under way together for one', () => {
    let nowMs = 0;
    const rate = createRate({ perSecond: 100, burst: 50, now: () => nowMs });
    for (let i = 0; i < 40; i++) rate.takeMs();
    for (let i = 0; i < 10; i++) rate.refused();
    expect(rate.perSecond()).to.be.within(15, 25);
    nowMs += 5_000;
    expect(rate.perSecond()).to.be.within(36, 39);
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
        if (served.length >= 60) return { json: { jsonrpc: '2.0', id: call.id, error: { code: -32005, message: 'limit exceeded' } } };
        served.push(now);
        return undefined;
      };
      const reports: string[] = [];
      const rpc = createRpcPool({
        ...{ name: 'bsc', urls: [proxy.url], chainId: TEST_CHAIN_ID, requestsPerSecond: 50, burst: 5 },
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
      expect(perSecond).to.be.within(40, 56);
    }).timeout(20_000);
  });
});
