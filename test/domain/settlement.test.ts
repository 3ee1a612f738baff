import { expect } from 'chai';
import fc from 'fast-check';
import { mayMovePayout, PAYOUT_STATES, settledParts, splitByWeight } from '../../src/domain/settlement.ts';

const sumOf = (units: readonly bigint[]): bigint => units.reduce((sum, one) => sum + one, 0n);
const amount = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
const amounts = fc.array(amount, { minLength: 1, maxLength: 40 });
/** Deposits, and a fee that is at most what they sum to. */
const payouts = fc
  .tuple(amounts, fc.bigInt({ min: 0n, max: 10n ** 9n }))
  .map(([units, share]) => ({ amounts: units, feeUnits: (sumOf(units) * share) / 10n ** 9n }));

describe('the split of a payout', () => {
  it('sums to the whole, and gives each part its exact share but for less than one unit', () => {
    fc.assert(
      fc.property(amount, amounts, (whole, weights) => {
        const parts = splitByWeight(whole, weights);
        const weight = sumOf(weights);
        expect(sumOf(parts)).to.equal(whole);
        parts.forEach((part, index) => {
          const exact = whole * (weights[index] ?? 0n);
          const off = part * weight - exact;
          expect((off < 0n ? -off : off) < weight, `part ${index}`).to.equal(true);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('gives what is left to the largest remainders, and among equal ones to the earlier', () => {
    expect(splitByWeight(10n, [1n, 1n, 1n])).to.deep.equal([4n, 3n, 3n]);
    expect(splitByWeight(10n, [1n, 5n, 1n])).to.deep.equal([2n, 7n, 1n]);
    expect(splitByWeight(2n, [1n, 1n, 1n])).to.deep.equal([1n, 1n, 0n]);
    expect(splitByWeight(0n, [3n, 4n])).to.deep.equal([0n, 0n]);
    expect(splitByWeight(7n, [0n, 4n])).to.deep.equal([0n, 7n]);
  });

  it('refuses weights of nothing, and anything below zero', () => {
    for (const [whole, weights] of [
      [1n, []],
      [1n, [0n, 0n]],
      [-1n, [1n]],
      [1n, [2n, -1n]],
    ] as const)
      expect(() => splitByWeight(whole, weights)).to.throw(RangeError);
  });

  it('of a coin leaves net and fee of each deposit its amount, and of a token its whole amount', () => {
    fc.assert(
      fc.property(payouts, fc.boolean(), (payout, paysOwnFee) => {
        const netUnits = sumOf(payout.amounts) - (paysOwnFee ? payout.feeUnits : 0n);
        const parts = settledParts({ ...payout, netUnits, paysOwnFee });
        expect(sumOf(parts.map(({ settledUnits }) => settledUnits))).to.equal(netUnits);
        expect(sumOf(parts.map(({ feeUnits }) => feeUnits))).to.equal(payout.feeUnits);
        parts.forEach(({ settledUnits, feeUnits }, index) => {
          const whole = payout.amounts[index];
          expect(settledUnits >= 0n && feeUnits >= 0n, `part ${index}`).to.equal(true);
          expect(settledUnits + (paysOwnFee ? feeUnits : 0n)).to.equal(whole);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('gives each its share of a token of which less arrived', () => {
    const parts = settledParts({ amounts: [10n, 20n], netUnits: 27n, feeUnits: 3n, paysOwnFee: false });
    expect(parts.map(({ settledUnits }) => settledUnits)).to.deep.equal([9n, 18n]);
  });

  it('refuses a net that is more than the deposits sum to, or not that less a fee that they pay', () => {
    const of = (netUnits: bigint, paysOwnFee: boolean) => () =>
      settledParts({ amounts: [5n, 5n], netUnits, feeUnits: 2n, paysOwnFee });
    expect(of(10n, false)).not.to.throw();
    expect(of(8n, true)).not.to.throw();
    for (const [net, own] of [
      [11n, false],
      [10n, true],
      [7n, true],
    ] as const)
      expect(of(net, own)).to.throw(RangeError, 'does not pay');
  });
});

describe('the states of a payout', () => {
  it('go forward only, but for one that a block shows as paid after all; what is settled stays', () => {
    const steps = PAYOUT_STATES.flatMap((from) =>
      PAYOUT_STATES.filter((to) => mayMovePayout(from, to)).map((to) => `${from} → ${to}`),
    );
    expect(steps).to.deep.equal([
      'planned → paying',
      'planned → settled',
      'planned → cancelled',
      'paying → settled',
      'paying → failed',
      'failed → settled',
    ]);
  });
});
