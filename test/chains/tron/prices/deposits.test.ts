import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../../../dev/tron/contracts.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { createPriceSource } from '../../../../src/chains/prices/source.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { TRON_PRICES } from '../../../../src/chains/tron/chain.ts';
import { callTronContractOver } from '../../../../src/chains/tron/contract-call.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../../src/chains/tron/protocol.ts';
import { type AdvanceResult, advanceDeposit } from '../../../../src/services/deposits/advance.ts';
import type { Deps } from '../../../../src/services/deps.ts';
import { pollToHead } from '../../../services/watcher/test-watcher.ts';
import { startTronWatcher, type TronWatcher } from '../../../services/watcher/tron/tron-watcher.ts';

/** Of 19 that a deposit takes on Tron. */
const BLOCKS = 20;

describe('deposits on Tron and the prices that are read there', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  let deps: Deps;
  let feed: TronContract;
  let nowMs = Date.now();

  before(async () => {
    live = await startTronWatcher();
    feed = await live.node.deploy(testContracts().Feed);
    const { endpoint, node } = live;
    const pool = createTronPool({
      name: 'tron',
      urls: [endpoint.url],
      budget: createBudget({ perDay: 100_000, perSecond: 10_000 }),
      genesis: createGenesis({ usdtContract: TRON_ADDRESSES.format(node.usdt.key), known: node.genesisId }),
      timeoutMs: 300,
    });
    const address = TRON_ADDRESSES.format(feed.key);
    const prices = createPriceSource(
      { kind: 'chainlink', feeds: { TRX: address, USDT: address } },
      {
        chain: { prices: TRON_PRICES, callContract: callTronContractOver(pool) },
        now: () => new Date(nowMs),
      },
    );
    deps = { ...live.deps, prices };
    await live.catchUp();
  });
  after(() => live?.stop());

  const catchUp = () => pollToHead(deps, live.watchedChain);
  const tell = async (usd8: bigint): Promise<void> => {
    await feed.call('set', [usd8, BigInt(Math.floor(nowMs / 1_000))]);
    await live.node.mine();
  };
  async function deposit(address: AddressKey, currency: string): Promise<Record<string, unknown>> {
    const found = (await live.deposits(address)).find((row) => row['currency'] === currency);
    if (!found) throw new Error(`no deposit of ${currency}`);
    return found;
  }
  async function step(address: AddressKey, currency: string): Promise<AdvanceResult> {
    const { id } = await deposit(address, currency);
    return await advanceDeposit(deps, { depositId: String(id), alarmed: false });
  }
  async function paid(): Promise<AddressKey> {
    const address = await live.newAddress();
    await catchUp();
    await live.node.pay({ to: address, currency: 'TRX', units: 10_000_000n });
    await live.node.pay({ to: address, currency: 'USDT', units: 5_000_000n });
    await live.node.mine();
    await catchUp();
    return address;
  }
  const worthOf = ({
    rate_units: rate,
    rate_source: source,
    amount_usd_cents: cents,
  }: Record<string, unknown>) =>
    [rate, source, cents].map((value) => (value === null ? null : String(value)));

  it('are announced and read twice while the feed is dead, and TRX alone waits, for its price', async () => {
    const address = await paid();
    expect(worthOf(await deposit(address, 'TRX'))).to.deep.equal([null, null, null]);
    expect(worthOf(await deposit(address, 'USDT')), 'a dollar').to.deep.equal([
      '100000000',
      'fallback:1 (stale)',
      '500',
    ]);
    await live.node.mine(BLOCKS);
    await catchUp();
    expect(await step(address, 'USDT')).to.include({ kind: 'at', state: 'completed' });
    expect(await step(address, 'TRX')).to.include({ kind: 'at', state: 'confirming' });
    const waits = await step(address, 'TRX');
    expect(waits).to.include({ kind: 'wait', reason: 'no price for TRX yet' });
    expect((await deposit(address, 'TRX'))['verified_at']).to.not.equal(null);

    await tell(31_500_000n);
    expect(await step(address, 'TRX'), 'a dead feed is not asked all the time').to.include({ kind: 'wait' });
    nowMs += TRON_PRICES.cacheMs;
    // The first of these asks behind its back.
    await step(address, 'TRX');
    nowMs += 1_000;
    let result = await step(address, 'TRX');
    for (let tries = 0; result.kind === 'wait' && tries < 50; tries++) result = await step(address, 'TRX');
    expect(result).to.include({ kind: 'at', state: 'completed' });
    expect(worthOf(await deposit(address, 'TRX'))).to.deep.equal([
      '31500000',
      `chainlink:${TRON_ADDRESSES.format(feed.key)}`,
      '315',
    ]);
  });

  it('are valued at the price of their moment, not at the one of the deposit before', async () => {
    await tell(30_000_000n);
    nowMs += TRON_PRICES.cacheMs;
    await paid();
    nowMs += 3_600_000;
    await tell(40_000_000n);
    const later = await paid();
    expect(worthOf(await deposit(later, 'TRX')).at(-1)).to.equal('400');
  });
});
