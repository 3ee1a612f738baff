import { expect } from 'chai';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { BSC_PRICES } from '../../src/chains/bsc/chain.ts';
import { callContractOver } from '../../src/chains/bsc/contract-call.ts';
import type { CallContract } from '../../src/chains/chain.ts';
import { createPriceSource, type PriceDeps } from '../../src/chains/prices/source.ts';
import type { PriceSource } from '../../src/chains/reader.ts';
import { RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import { TRON_PRICES } from '../../src/chains/tron/chain.ts';
import { bscScene, signal } from './bsc-scene.ts';

const START = Date.UTC(2026, 10, 20);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** From this age on a feed is dead. */
const DEAD_MS = 25 * HOUR_MS;
const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0');

/** A feed that says what a test makes it say, by a clock that a test moves. */
class Feed {
  nowMs = START;
  usd8 = 600n;
  atMs = START;
  decimals = 8n;
  /** Instead of an answer. */
  fault: (() => Promise<string>) | undefined;
  readonly asked: string[] = [];
  readonly reports: string[] = [];

  readonly call: CallContract = async ({ to, method }) => {
    this.asked.push(`${to} ${method}`);
    if (this.fault) return await this.fault();
    const round = [1n, this.usd8, 0n, BigInt(Math.floor(this.atMs / 1_000)), 1n];
    return `0x${(method === 'decimals()' ? [this.decimals] : round).map(word).join('')}`;
  };
  answers(usd8: bigint, ageMs = 0): void {
    Object.assign(this, { usd8, atMs: this.nowMs - ageMs, fault: undefined });
  }
  source(deps: Partial<PriceDeps> = {}, prices = BSC_PRICES, feeds?: Record<string, string>): PriceSource {
    const chain = { prices, callContract: this.call };
    const report = (message: string): void => void this.reports.push(message);
    const now = () => new Date(this.nowMs);
    return createPriceSource({ kind: 'chainlink', feeds }, { chain, now, report, ...deps });
  }
}
const bnb = (prices: PriceSource, stop = signal) => prices.price('BNB', stop);
/** The price after the one that is asked for behind the caller's back. */
async function refreshed(prices: PriceSource) {
  await bnb(prices);
  await new Promise((resolve) => setImmediate(resolve));
  return await bnb(prices);
}
const unavailable = () => Promise.reject(new RpcUnavailable('no answer within 5 s', 'bsc'));

describe('prices of a coin', () => {
  let feed: Feed;
  beforeEach(() => {
    feed = new Feed();
  });

  it('are what the operator said, and unknown where nothing was said', async () => {
    const at = new Date(START);
    const prices = createPriceSource({ kind: 'fixed', rateUnits: { BNB: 600_00000000n } }, { now: () => at });
    const fixed = { usd8: 600_00000000n, source: 'fixed', at, stale: false };
    expect(await bnb(prices)).to.deep.equal(fixed);
    expect(await prices.price('TRX', signal)).to.equal(undefined);
    expect(await bnb(feed.source({ chain: undefined })), 'no chain to read a feed on').to.equal(undefined);
  });

  it('carry the feed’s value, its address and its own time', async () => {
    feed.answers(612_34567890n, 45_000);
    const source = `chainlink:${BSC_PRICES.feeds.BNB?.address}`;
    const at = new Date(START - 45_000);
    expect(await bnb(feed.source())).to.deep.equal({ usd8: 612_34567890n, source, at, stale: false });
    const other = await bnb(feed.source({}, BSC_PRICES, { BNB: '0xother' }));
    expect(other?.source).to.equal('chainlink:0xother');
  });

  const BAD: Readonly<Record<string, readonly [spoil: (feed: Feed) => unknown, reason: RegExp]>> = {
    'is zero': [(one) => one.answers(0n), /not above zero/],
    'is older than it should be': [(one) => one.answers(999n, 11 * MINUTE_MS), /11 minutes old/],
    'has no time': [(one) => Object.assign(one, { usd8: 999n, atMs: 0 }), /no time/],
    'does not come': [(one) => Object.assign(one, { fault: unavailable }), /no answer within/],
  };
  for (const [name, [spoil, reason]] of Object.entries(BAD))
    it(`stay at the last good value, marked stale, when the answer ${name}`, async () => {
      const prices = feed.source();
      const good = await bnb(prices);
      feed.nowMs += 31_000;
      spoil(feed);
      expect(await bnb(prices), 'within its age and not known to be bad').to.deep.equal(good);
      expect(await refreshed(prices)).to.deep.equal({ ...good, stale: true });
      feed.nowMs += 30 * DEAD_MS;
      expect(await refreshed(prices), 'for as long as nothing better comes').to.deep.equal({
        ...good,
        stale: true,
      });
      expect(feed.reports).to.have.length(1);
      expect(feed.reports[0]).to.match(reason);
      feed.nowMs += 31_000;
      feed.answers(650n);
      expect(await refreshed(prices)).to.include({ usd8: 650n, stale: false });
      expect(feed.reports[1]).to.match(/good again/);
      feed.nowMs += 31_000;
      feed.answers(500n, 120_000);
      expect(await refreshed(prices), 'not older by a node that lags').to.include({ usd8: 650n });
    });

  it('are unknown, not wrong, when nothing good was ever seen', async () => {
    feed.answers(0n);
    expect(await bnb(feed.source())).to.equal(undefined);
    feed.answers(600n);
    feed.decimals = 18n;
    expect(await bnb(feed.source()), 'another fixed point').to.equal(undefined);
    feed.fault = async () => '0x';
    expect(await bnb(feed.source()), 'no contract at all').to.equal(undefined);
    expect(feed.reports.at(-1)).to.match(/is not a feed with 8 decimals$/);
  });

  it('are old and marked where there is nothing better, and none of a dead feed at the start', async () => {
    for (const [ageMs, stale] of [
      [3 * HOUR_MS, true],
      [DEAD_MS, true],
      [DEAD_MS + 1_000, undefined],
    ] as const) {
      feed.answers(600n, ageMs);
      expect((await bnb(feed.source()))?.stale, `${ageMs} ms old`).to.equal(stale);
    }
  });

  it('measure age against the heartbeat of each feed, and more strictly where the operator says so', async () => {
    feed.answers(1_00000000n, 15 * MINUTE_MS);
    const stale = async (deps: Partial<PriceDeps> = {}) => {
      const prices = feed.source(deps);
      const each = (['BNB', 'TRX', 'USDT'] as const).map((currency) => prices.price(currency, signal));
      return (await Promise.all(each)).map((price) => price?.stale);
    };
    expect(await stale()).to.deep.equal([true, false, false]);
    expect(await stale({ maxAgeMs: 10 * MINUTE_MS })).to.deep.equal([true, true, true]);
  });

  describe('where each question costs', () => {
    const costly = () => feed.source({}, TRON_PRICES);
    const trx = (prices: PriceSource) => prices.price('TRX', signal);

    it('stay at the one before, marked, where the feed does not answer, and nobody waits for the next try', async () => {
      const prices = costly();
      await trx(prices);
      feed.nowMs += TRON_PRICES.cacheMs;
      feed.answers(650n);
      expect((await trx(prices))?.usd8, 'the newer one is waited for').to.equal(650n);
      feed.nowMs += 3 * HOUR_MS;
      feed.fault = unavailable;
      expect(await trx(prices)).to.include({ usd8: 650n, stale: true });
      feed.nowMs += TRON_PRICES.cacheMs;
      feed.answers(700n);
      expect(await trx(prices), 'not waited for').to.include({ usd8: 650n, stale: true });
      await new Promise((resolve) => setImmediate(resolve));
      expect(await trx(prices)).to.include({ usd8: 700n, stale: false });
    });
  });
});

describe('a price feed on a real chain', () => {
  const the = bscScene();

  it('is read, and costs no endpoint its place for blocks, even where none answers', async () => {
    const rpc = the.poolOf();
    const feed = await the.chain.deploy(testContracts().Feed);
    const at = Math.floor(START / 1_000);
    await feed.call('set', [612_34567890n, at]);
    await the.chain.mine();
    await rpc.checkChain(signal);
    const chain = { prices: BSC_PRICES, callContract: callContractOver(rpc) };
    const price = async (address: string) => {
      const spec = { kind: 'chainlink', feeds: { BNB: address } } as const;
      return (await bnb(createPriceSource(spec, { chain, now: () => new Date(START) })))?.usd8;
    };
    const place = () => rpc.status().map(({ toldMsAgo: _, ...rest }) => rest);
    const before = place();
    expect(await price(feed.address)).to.equal(612_34567890n);
    expect(await price(the.chain.usdt.address), 'a contract that is no feed').to.equal(undefined);
    expect(await price(`0x${'7'.repeat(40)}`), 'no contract at all').to.equal(undefined);
    for (const proxy of the.proxies) proxy.fault = () => 'reset';
    expect([await price(feed.address), place()]).to.deep.equal([undefined, before]);
  });
});
