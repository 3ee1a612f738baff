import { expect } from 'chai';
import { TEST_CHAIN_ID } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import type { Fault } from '../../dev/support/fault-proxy.ts';
import { BSC_PRICES } from '../../src/chains/bsc/chain.ts';
import { callContractOver } from '../../src/chains/bsc/contract-call.ts';
import { createPriceSource, type PriceDeps } from '../../src/chains/prices/source.ts';
import { createRpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { type PriceFeed, refreshed, startPriceFeed } from './price-feed.ts';

const { signal } = new AbortController();
const START = Date.UTC(2026, 10, 20);

describe('fixed prices', () => {
  it('are what the operator said, and unknown where nothing was said', async () => {
    const at = new Date(START);
    const prices = createPriceSource({ kind: 'fixed', rateUnits: { BNB: 600_00000000n } }, { now: () => at });
    expect(await prices.price('BNB', signal)).to.deep.equal({
      usd8: 600_00000000n,
      source: 'fixed',
      at,
      stale: false,
    });
    expect(await prices.price('TRX', signal)).to.equal(undefined);
  });
});

describe('prices from Chainlink feeds on the chain', () => {
  let the: PriceFeed;
  const reports: string[] = [];

  before(async () => {
    the = await startPriceFeed();
  });
  after(() => the?.stop());
  beforeEach(async () => {
    await the.begin(START);
    reports.length = 0;
  });

  const source = (deps: Partial<PriceDeps> = {}, feeds = the.feeds()) =>
    the.source({ report: (message) => reports.push(message), ...deps }, feeds);
  const fault = (next: Fault): void => {
    the.proxy.fault = next;
  };
  const answer = (usd8: bigint, ageMs = 0) => the.answer(usd8, ageMs);

  it('carry the feed’s value, its address and its own time', async () => {
    await answer(612_34567890n, 45_000);
    expect(await source().price('BNB', signal)).to.deep.equal({
      usd8: 612_34567890n,
      source: `chainlink:${the.feed.address}`,
      at: new Date(START - 45_000),
      stale: false,
    });
  });

  it('are asked for once in 30 seconds, however many deposits want one', async () => {
    await answer(600n);
    const prices = source();
    the.proxy.calls.length = 0;
    const both = await Promise.all([prices.price('BNB', signal), prices.price('BNB', signal)]);
    expect(both.map((price) => price?.usd8)).to.deep.equal([600n, 600n]);
    await answer(700n);
    the.nowMs += 29_000;
    expect((await prices.price('BNB', signal))?.usd8).to.equal(600n);
    // decimals and the round
    expect(the.proxy.calls.filter((call) => call.method === 'eth_call').length).to.equal(2);
    the.nowMs += 1_000;
    expect((await prices.price('BNB', signal))?.usd8, 'at once').to.equal(600n);
    await refreshed(prices, (price) => price?.usd8 === 700n);
  });

  const bad: readonly [name: string, spoil: () => Promise<unknown>, reason: RegExp][] = [
    ['is zero', () => answer(0n), /not above zero/],
    ['is negative', () => answer(-5n), /not above zero/],
    ['is absurd', () => answer(10n ** 20n), /absurdly high/],
    ['is older than it should be', () => answer(999n, 11 * 60_000), /11 minutes old/],
    ['has no time', () => the.feed.call('set', [999n, 0n]), /no time/],
    ['is from the future', () => answer(999n, -3_600_000), /in the future/],
    ['is a revert', () => the.feed.call('setBroken', [true]), /revert/],
    ['does not come', async () => fault(() => 'hang'), /no answer within/],
    [
      'is nonsense',
      async () =>
        fault((call) => (call.method === 'eth_call' ? { json: { id: call.id, result: '0x12' } } : undefined)),
      /not above zero/,
    ],
  ];
  for (const [name, spoil, reason] of bad) {
    it(`stay at the last good value, marked stale, when the answer ${name}`, async () => {
      await answer(600n);
      const prices = source();
      const good = await prices.price('BNB', signal);
      the.nowMs += 31_000;
      await spoil();
      await the.chain.mine();
      expect(await prices.price('BNB', signal), 'within its age and not known to be bad').to.deep.equal(good);
      expect(await refreshed(prices, (price) => price?.stale === true)).to.deep.equal({
        ...good,
        stale: true,
      });
      expect(reports).to.have.length(1);
      expect(reports[0]).to.match(reason);

      the.proxy.fault = undefined;
      await the.feed.call('setBroken', [false]);
      the.nowMs += 31_000;
      await answer(650n);
      expect(await refreshed(prices, (price) => price?.usd8 === 650n)).to.include({ stale: false });
      expect(reports[1]).to.match(/good again/);
    });
  }

  it('are unknown, not wrong, when nothing good was ever seen', async () => {
    await answer(0n);
    expect(await source().price('BNB', signal)).to.equal(undefined);
    expect(await source({ chain: undefined }).price('BNB', signal)).to.equal(undefined);
    expect(
      await source({}, { BNB: the.chain.usdt.address }).price('BNB', signal),
      'a contract that is no feed',
    ).to.equal(undefined);
    expect(
      await source({}, { BNB: `0x${'7'.repeat(40)}` }).price('BNB', signal),
      'no contract at all',
    ).to.equal(undefined);
    await the.feed.call('setDecimals', [18]);
    await answer(600n);
    expect(await source().price('BNB', signal), 'another fixed point').to.equal(undefined);
  });

  it('take an old answer marked stale when there is nothing better, and none from a dead feed', async () => {
    await answer(600n, 3 * 3_600_000);
    expect(await source().price('BNB', signal)).to.deep.equal({
      usd8: 600n,
      source: `chainlink:${the.feed.address}`,
      at: new Date(START - 3 * 3_600_000),
      stale: true,
    });
    await answer(600n, 26 * 3_600_000);
    expect(await source().price('BNB', signal)).to.equal(undefined);
  });

  it('that were good once stay in use for as long as nothing better comes, marked, and beyond the 25 hours of a dead feed', async () => {
    const HOURS_25 = 90_000_000;
    await answer(600n);
    const prices = source();
    const good = await prices.price('BNB', signal);
    for (const ageMs of [HOURS_25 - 1, HOURS_25, HOURS_25 + 1, 30 * HOURS_25]) {
      the.nowMs = START + ageMs;
      expect(await refreshed(prices, (price) => price?.stale === true), `${ageMs} ms later`).to.deep.equal({
        ...good,
        stale: true,
      });
    }
    // A process that begins now has nothing that was good:
    // it takes an answer up to that age, and none beyond.
    the.nowMs = START + HOURS_25;
    expect(await source().price('BNB', signal), 'at the edge').to.include({ usd8: 600n, stale: true });
    the.nowMs = START + HOURS_25 + 1;
    expect(await source().price('BNB', signal)).to.equal(undefined);
  });

  it('measure age against the heartbeat of each feed, and more strictly where the operator says so', async () => {
    await answer(1_00000000n, 15 * 60_000);
    const stale = async (deps: Partial<PriceDeps>, currency: 'BNB' | 'TRX' | 'USDT') =>
      (await source(deps).price(currency, signal))?.stale;
    expect([await stale({}, 'BNB'), await stale({}, 'TRX'), await stale({}, 'USDT')]).to.deep.equal([
      true,
      false,
      false,
    ]);
    expect(await stale({ maxAgeMs: 600_000 }, 'USDT')).to.equal(true);
  });

  it('are there at once where any is known, while the feed hangs or is slow, and are marked when they are older than they should be', async () => {
    await answer(600n);
    const prices = source();
    const good = await prices.price('BNB', signal);
    for (const trouble of ['hangs', 'slow'] as const) {
      the.nowMs += 31_000;
      fault(async (call) => {
        if (call.method !== 'eth_call') return undefined;
        if (trouble === 'slow') await new Promise((resolve) => setTimeout(resolve, 2_500));
        return 'hang';
      });
      const aborted = AbortSignal.timeout(250);
      for (let i = 0; i < 50; i++)
        expect(await prices.price('BNB', aborted)).to.include({ usd8: good?.usd8 });
    }
    the.nowMs += 11 * 60_000;
    expect(await prices.price('BNB', signal)).to.deep.equal({ ...good, stale: true });
  });

  it('are waited for before the first one is known, together, and once only', async () => {
    await answer(600n);
    const prices = source();
    fault((call) => (call.method === 'eth_call' ? { status: 503, body: '' } : undefined));
    const first = await Promise.all([prices.price('BNB', signal), prices.price('BNB', signal)]);
    expect(first).to.deep.equal([undefined, undefined]);
    the.nowMs += 6_000;
    fault(() => 'hang');
    expect(await prices.price('BNB', AbortSignal.timeout(50)), 'nobody waits for the second try').to.equal(
      undefined,
    );
    the.proxy.fault = undefined;
    the.nowMs += 6_000;
    await refreshed(prices, (price) => price?.usd8 === 600n);
  });

  it('never become older by an answer of a node that lags', async () => {
    await answer(600n, 10_000);
    const prices = source();
    await prices.price('BNB', signal);
    the.nowMs += 31_000;
    await answer(500n, 120_000);
    the.proxy.calls.length = 0;
    await prices.price('BNB', signal);
    await eventually('the answer', () => the.proxy.calls.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await prices.price('BNB', signal))?.usd8).to.equal(600n);
  });

  it('that are old from the very start are used and marked, for as long as nothing better comes', async () => {
    await answer(600n, 3 * 3_600_000);
    const prices = source();
    for (let hours = 0; hours < 6; hours++) {
      expect(await prices.price('BNB', signal)).to.include({ usd8: 600n, stale: true });
      the.nowMs += 3_600_000;
    }
    await answer(650n);
    await refreshed(prices, (price) => {
      the.nowMs += 100;
      return price?.usd8 === 650n && !price.stale;
    });
  });

  it('cost no endpoint its place for blocks, nor its pace, whatever they do', async () => {
    const rpc = createRpcPool({ name: 'bsc', urls: [the.proxy.url], chainId: TEST_CHAIN_ID, timeoutMs: 300 });
    await rpc.checkChain(signal);
    const place = () => rpc.status().map(({ toldMsAgo: _, ...rest }) => rest);
    const before = place();
    const said: string[] = [];
    const chain = { prices: BSC_PRICES, callContract: callContractOver(rpc) };
    for (const trouble of [
      () => 'hang',
      () => 'reset',
      () => ({ status: 429, body: '', headers: { 'retry-after': '60' } }),
      (call) => ({ json: { id: call.id, error: { code: -32005, message: 'limit exceeded' } } }),
    ] satisfies Fault[]) {
      fault(trouble);
      expect(await source({ chain, report: (message) => said.push(message) }).price('BNB', signal)).to.equal(
        undefined,
      );
      expect(place()).to.deep.equal(before);
      the.proxy.fault = undefined;
      expect(await rpc.run((session) => session.call('eth_blockNumber', []), signal)).to.match(/^0x/);
    }
    expect(said).to.have.length(4);
  });

  it('come from the main-net feeds unless others are named', async () => {
    await answer(600n);
    the.proxy.calls.length = 0;
    await source({}, { BNB: the.feed.address }).price('TRX', signal);
    expect(JSON.stringify(the.proxy.calls)).to.contain(BSC_PRICES.feeds.TRX?.address);
  });

  it('leave the next caller unharmed when the one who asked is told to stop', async () => {
    await answer(600n);
    const prices = source();
    const abort = new AbortController();
    the.proxy.fault = () => 'hang';
    const first = prices.price('BNB', abort.signal).catch((error: unknown) => error);
    const second = prices.price('BNB', signal);
    abort.abort(new Error('shutting down'));
    expect(await first).to.have.property('message', 'shutting down');
    the.proxy.fault = undefined;
    expect((await second)?.usd8).to.equal(600n);
  });
});
