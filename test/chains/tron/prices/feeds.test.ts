import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import { eventually } from '../../../../dev/support/eventually.ts';
import { always, changed } from '../../../../dev/tron/faults.ts';
import { startTronNode, type TronNode } from '../../../../dev/tron/node.ts';
import { createPriceSource, type PriceDeps } from '../../../../src/chains/prices/source.ts';
import type { PriceSource } from '../../../../src/chains/reader.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { TRON_PRICES } from '../../../../src/chains/tron/chain.ts';
import { callTronContractOver } from '../../../../src/chains/tron/contract-call.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../../src/chains/tron/protocol.ts';
import { keepPricesFresh } from '../../../../src/services/deposits/price.ts';
import { testDeps } from '../../../support/gateway.ts';

const { signal } = new AbortController();
const START = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const CACHE_MS = TRON_PRICES.cacheMs;

describe('prices from Chainlink feeds on Tron', () => {
  let node: TronNode;
  let feed: Awaited<ReturnType<TronNode['deploy']>>;
  let nowMs = START;
  const reports: string[] = [];

  before(async () => {
    node = await startTronNode();
    feed = await node.deploy(testContracts().Feed);
  });
  after(() => node?.stop());
  beforeEach(async () => {
    node.fault = undefined;
    nowMs = START;
    reports.length = 0;
    await answer(30_123_456n);
  });

  const address = (): string => TRON_ADDRESSES.format(feed.key);
  async function answer(usd8: bigint, ageMs = 0): Promise<void> {
    await feed.call('set', [usd8, BigInt(Math.floor((nowMs - ageMs) / 1_000))]);
    await node.mine();
  }

  type Budgeted = { readonly perDay?: number; readonly feeds?: Readonly<Record<string, string>> };
  function source(
    { perDay = 100_000, feeds = { TRX: address(), USDT: address() } }: Budgeted = {},
    deps: Partial<PriceDeps> = {},
  ) {
    const budget = createBudget({ perDay, perSecond: 10_000 });
    const pool = createTronPool({
      name: 'tron',
      urls: [node.url],
      budget,
      genesis: createGenesis({ usdtContract: TRON_ADDRESSES.format(node.usdt.key), known: node.genesisId }),
      timeoutMs: 300,
    });
    const prices = createPriceSource(
      { kind: 'chainlink', feeds },
      {
        chain: { prices: TRON_PRICES, callContract: callTronContractOver(pool) },
        now: () => new Date(nowMs),
        report: (message) => reports.push(message),
        ...deps,
      },
    );
    return { prices, used: () => budget.today().used, pool };
  }
  const trx = async (prices: PriceSource) => await prices.price('TRX', signal);

  it('carry the feed’s value, its address as Tron writes it, and its own time', async () => {
    await answer(31_000_000n, 45_000);
    expect(await trx(source().prices)).to.deep.equal({
      usd8: 31_000_000n,
      source: `chainlink:${address()}`,
      at: new Date(START - 45_000),
      stale: false,
    });
  });

  it('are read from the main-net feeds of TRX and USDT unless others are named, and of BNB from none', async () => {
    const { prices } = source({ feeds: {} });
    const begun = node.requests.length;
    for (const currency of ['TRX', 'USDT', 'BNB'] as const)
      expect(await prices.price(currency, signal), 'there is no such contract here').to.equal(undefined);
    const contracts = node.requests
      .slice(begun)
      .filter(({ path }) => path.endsWith('triggerconstantcontract'))
      .map(({ body }) => body['contract_address']);
    const keys = Object.values(TRON_PRICES.feeds).map(({ address: to }) => `41${TRON_ADDRESSES.key(to)}`);
    expect(contracts).to.deep.equal(keys);
    expect(reports.map((message) => message.replace(/T\w{33}/, 'T'))).to.deep.equal([
      'the TRX price feed can not be used: the contract T is not a feed with 8 decimals',
      'the USDT price feed can not be used: the contract T is not a feed with 8 decimals',
    ]);
  });

  it('cost nothing while nobody needs one, and at most one question a minute for each coin', async () => {
    const { prices, used } = source();
    const deps = await testDeps('postgres://u@127.0.0.1:1/none', [], { deps: { prices } });
    for (let seconds = 0; seconds < 3_600; seconds += 15) {
      await keepPricesFresh(deps);
      nowMs += 15_000;
    }
    await deps.orm.close(true);
    expect(used(), 'an hour without a deposit').to.equal(0);
    await Promise.all([trx(prices), trx(prices), prices.price('USDT', signal)]);
    // The chain's proof, and of each feed its decimals once.
    const first = used();
    for (let blocks = 0; blocks < 1_200; blocks += 10) {
      await trx(prices);
      await prices.price('USDT', signal);
      nowMs += 30_000;
    }
    expect(used() - first, 'an hour with both coins in every tenth block').to.be.within(118, 120);
  });

  it('are waited for when the newest known one is of some time ago', async () => {
    const { prices } = source();
    await trx(prices);
    nowMs += CACHE_MS - 1;
    await answer(29_000_000n);
    expect((await trx(prices))?.usd8, 'within the cache').to.equal(30_123_456n);
    nowMs += 1;
    expect(await trx(prices)).to.include({ usd8: 29_000_000n, stale: false });
  });

  it('stay at the one before, marked stale, where the feed does not answer, and nobody waits for the next try', async () => {
    const { prices } = source();
    await trx(prices);
    nowMs += 3 * HOUR_MS;
    node.fault = always('hang');
    const beganMs = performance.now();
    const late = await prices.price('TRX', AbortSignal.timeout(100));
    expect(late).to.include({ usd8: 30_123_456n, stale: true });
    expect(performance.now() - beganMs).to.be.below(250);
    await trx(prices);
    expect(reports).to.have.length(1);
    expect(reports[0]).to.match(/^the TRX price feed can not be used: .*no answer within 0\.3 s$/);
    const asked = node.requests.length;
    nowMs += CACHE_MS - 1;
    expect(await prices.price('TRX', AbortSignal.timeout(50))).to.include({ stale: true });
    expect(node.requests.length, 'a bad feed costs no more than a good one').to.equal(asked);
    nowMs += 1;
    node.fault = undefined;
    await answer(33_000_000n);
    expect(await trx(prices), 'not waited for').to.include({ usd8: 30_123_456n, stale: true });
    await eventually('the answer', async () => (await trx(prices))?.usd8 === 33_000_000n);
    expect(await trx(prices)).to.include({ stale: false });
    expect(reports[1]).to.match(/good again/);
  });

  it('are unknown where the contract refuses, is none, counts otherwise or has no answer', async () => {
    const refused = changed(['triggerconstantcontract'], (said: object) => ({
      ...said,
      transaction: { ret: [{ ret: 'FAILED' }] },
    }));
    node.fault = refused;
    expect(await trx(source().prices)).to.equal(undefined);
    node.fault = undefined;
    expect(await trx(source({ feeds: { TRX: TRON_ADDRESSES.format(node.usdt.key) } }).prices)).to.equal(
      undefined,
    );
    await answer(0n);
    expect(await trx(source().prices)).to.equal(undefined);
    await answer(5n, 26 * HOUR_MS);
    expect(await trx(source().prices), 'a dead feed').to.equal(undefined);
    expect(reports.map((message) => message.replace(/^.*used: |T\w{33} /g, ''))).to.deep.equal([
      'the contract refused the call',
      'the contract is not a feed with 8 decimals',
      'its answer is not above zero',
      'its answer is 1560 minutes old',
    ]);
  });

  it('are not called old before the longest heartbeat, unless the operator says so', async () => {
    await answer(30n, DAY_MS);
    expect(await trx(source().prices)).to.include({ usd8: 30n, stale: false });
    expect(await trx(source({}, { maxAgeMs: HOUR_MS }).prices)).to.include({ usd8: 30n, stale: true });
  });

  it('are unknown, without an error, where the day’s requests are used up', async () => {
    const { prices } = source({ perDay: 1 });
    expect(await trx(prices)).to.equal(undefined);
    expect(await trx(prices)).to.equal(undefined);
    expect(reports).to.have.length(1);
    expect(reports[0]).to.match(/the 1 requests of .* are used up/);
  });
});
