import { expect } from 'chai';
import type { Price } from '../../../../src/chains/reader.ts';
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
  /** Of TRX; nobody knows one of USDT. */
  let known: Price | undefined;
  before(async () => {
    live = await startTronWatcher();
    const price = async (currency: string) => (currency === 'TRX' ? known : undefined);
    deps = { ...live.deps, prices: { costly: true, price } };
    await live.catchUp();
  });
  after(() => live?.stop());

  const catchUp = () => pollToHead(deps, live.watchedChain);
  const tell = (usd8: bigint): void => {
    known = { usd8, source: 'chainlink:feed', at: new Date(), stale: false };
  };
  async function paid() {
    const address = await live.newAddress();
    await catchUp();
    await live.node.pay({ to: address, currency: 'TRX', units: 10_000_000n });
    await live.node.pay({ to: address, currency: 'USDT', units: 5_000_000n });
    await live.node.mine();
    await catchUp();
    const deposit = async (currency: string) => {
      const found = (await live.deposits(address)).find((row) => row['currency'] === currency);
      if (!found) throw new Error(`no deposit of ${currency}`);
      return found;
    };
    const step = async (currency: string): Promise<AdvanceResult> =>
      await advanceDeposit(deps, { depositId: String((await deposit(currency))['id']), alarmed: false });
    const worth = async (currency: string) => {
      const { rate_units: rate, rate_source: source, amount_usd_cents: cents } = await deposit(currency);
      return [rate, source, cents].map((value) => (value === null ? null : String(value)));
    };
    return { deposit, step, worth };
  }

  it('are announced and read twice without a price, and TRX alone waits, for its price', async () => {
    const { deposit, step, worth } = await paid();
    expect(await worth('TRX')).to.deep.equal([null, null, null]);
    expect(await worth('USDT'), 'a dollar').to.deep.equal(['100000000', 'fallback:1 (stale)', '500']);
    await live.node.mine(BLOCKS);
    await catchUp();
    expect(await step('USDT')).to.include({ kind: 'at', state: 'completed' });
    expect(await step('TRX')).to.include({ kind: 'at', state: 'confirming' });
    expect(await step('TRX')).to.include({ kind: 'wait', reason: 'no price for TRX yet' });
    expect((await deposit('TRX'))['verified_at']).to.not.equal(null);
    tell(31_500_000n);
    expect(await step('TRX')).to.include({ kind: 'at', state: 'completed' });
    expect(await worth('TRX')).to.deep.equal(['31500000', 'chainlink:feed', '315']);
  });

  it('are valued at the price of their moment, not at the one of the deposit before', async () => {
    tell(30_000_000n);
    const before = await paid();
    tell(40_000_000n);
    const later = await paid();
    expect([(await before.worth('TRX')).at(-1), (await later.worth('TRX')).at(-1)]).to.eql(['300', '400']);
  });
});
