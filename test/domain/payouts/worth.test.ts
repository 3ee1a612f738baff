import { expect } from 'chai';
import fc from 'fast-check';
import { costsTooMuch, percentOf } from '../../../src/domain/payouts/worth.ts';

const bnb = (units: bigint, usd = 600n) => ({ units, decimals: 18, usd8: usd * 10n ** 8n });
const usdt = (units: bigint) => ({ units, decimals: 6, usd8: 10n ** 8n });

describe('what a payout may cost', () => {
  it('is exact to the unit', () => {
    // 5 % of 12 USDT are 0.60 USD, which is 0.001 BNB at 600.
    expect(costsTooMuch(bnb(10n ** 15n), usdt(12_000_000n), 500n)).to.equal(false);
    expect(costsTooMuch(bnb(10n ** 15n + 1n), usdt(12_000_000n), 500n)).to.equal(true);
  });

  it('is told in percent, rounded up', () => {
    expect(percentOf(bnb(10n ** 15n), usdt(12_000_000n))).to.equal('5.00 %');
    expect(percentOf(bnb(10n ** 15n + 1n), usdt(12_000_000n))).to.equal('5.01 %');
    expect(percentOf(bnb(1n), usdt(12_000_000n))).to.equal('0.01 %');
  });

  it('never falls below the limit when the cost rises', () => {
    const units = fc.bigInt({ min: 0n, max: 10n ** 24n });
    fc.assert(
      fc.property(units, units, units, fc.bigInt({ min: 0n, max: 10_000n }), (cost, more, moved, most) => {
        if (costsTooMuch(bnb(cost), usdt(moved), most))
          expect(costsTooMuch(bnb(cost + more), usdt(moved), most)).to.equal(true);
      }),
    );
  });
});
