import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Currency, Network } from '../../../src/domain/assets.ts';
import type { SignLimits } from '../../../src/signer/pull/limits.ts';
import { GAS_PRICE, type SignerStage, startSignerStage, termsOf } from './stage.ts';

const only =
  (currency: Currency, units: bigint): SignLimits['perHour'] =>
  (asset) =>
    asset.currency === currency ? units : undefined;
const NO_LIMIT = (): undefined => undefined;

describe('the limits of the signer', function () {
  this.timeout(120_000);
  let the: SignerStage;
  beforeEach(async () => {
    the = await startSignerStage();
  });
  afterEach(() => the?.stop());

  const planned = async (units: bigint, network: Network = 'bsc', currency: Currency = 'USDT') => {
    const place = await the.place(network);
    await the.deposit(place, currency, units);
    return await the.plan(place, currency);
  };
  const asked = async (units: bigint, network?: Network, currency?: Currency) =>
    await the.ask(await planned(units, network, currency));
  const signed = (id: string) => eventually('room', async () => (await the.row(id))['state'] === 'signed');

  it('keep what is above that of an hour or a day asked, and let it go when there is room', async () => {
    const units = 600n;
    let now = Date.now();
    const limits = { perHour: only('USDT', 1_000n), perDay: only('USDT', 1_500n) };
    await the.signer({ limits, now: () => new Date(now) });
    await signed(await asked(units));
    const second = await asked(units);
    expect((await the.decided(second))['refused']).to.match(
      /^limit: with it 1200 units of USDT .* within 1 h.*SIGN_MAX_PER_HOUR allows 1000/,
    );
    now += 61 * 60_000;
    await signed(second);
    now += 61 * 60_000;
    const third = await asked(units);
    expect((await the.decided(third))['refused']).to.match(
      /^limit: with it 1800 units .* within 24 h.*SIGN_MAX_PER_DAY/,
    );
    now += 23 * 60 * 60_000;
    await signed(third);
    const huge = await asked(10n ** 30n);
    expect((await the.decided(huge))['refused']).to.match(
      /^limit: .* are more than SIGN_MAX_PER_HOUR allows at all/,
    );
  });

  it('count coins for gas with payouts of the coin', async () => {
    await the.signer({ limits: { perHour: only('BNB', 10n ** 18n), perDay: NO_LIMIT } });
    const topUp = async () => await the.ask(await planned(5n), { purpose: 'gas', units: 1_000_000n });
    await signed(await topUp());
    const payout = await planned(10n ** 18n + 21_000n * GAS_PRICE - 1_500_000n, 'bsc', 'BNB');
    await signed(await the.ask(payout, { units: 10n ** 18n - 1_500_000n }));
    expect((await the.decided(await topUp()))['refused']).to.match(
      /^limit: with it 1000000000000500000 units of BNB would be signed away within 1 h/,
    );
  });

  it('count each chain and each asset by itself', async () => {
    await the.signer({ limits: { perHour: () => 1_000_000_000n, perDay: NO_LIMIT } });
    await signed(await asked(600_000_000n, 'bsc', 'USDT'));
    await signed(await asked(600_000_000n, 'tron', 'USDT'));
    await signed(await asked(600_000_000n, 'tron', 'TRX'));
    expect((await the.decided(await asked(600_000_000n, 'tron', 'USDT')))['refused']).to.match(
      /^limit: with it 1200000000 units of USDT/,
    );
  });

  it('count all attempts in one place once, because one of them lands at most', async () => {
    await the.signer({ limits: { perHour: NO_LIMIT, perDay: only('BNB', (10n ** 18n * 3n) / 2n) } });
    const payout = await planned(10n ** 18n, 'bsc', 'BNB');
    await signed(await the.ask(payout));
    for (const attempt of [2, 3]) {
      const price = GAS_PRICE * BigInt(attempt);
      const terms = termsOf('bsc', 'BNB', { gas_price: price.toString() });
      await signed(await the.ask(payout, { attempt, terms, units: payout.grossUnits - 21_000n * price }));
    }
    expect((await the.decided(await asked(10n ** 18n, 'bsc', 'BNB')))['refused']).to.match(
      /^limit: .* within 24 h/,
    );
  });
});
