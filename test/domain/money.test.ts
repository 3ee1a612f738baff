import { expect } from 'chai';
import fc from 'fast-check';
import {
  centsToJsonNumber,
  formatUnits,
  MAX_UNITS,
  parseUnits,
  RATE_DECIMALS,
  rateToJsonNumber,
  usdCents,
} from '../../src/domain/money.ts';

const units = fc.bigInt({ min: 0n, max: MAX_UNITS });
/**
 * The parser reads 60 digits before the point: enough for the
 * largest amount with 18 decimals, and a limit for hostile text.
 */
const largest = (places: number) =>
  10n ** BigInt(60 + places) - 1n < MAX_UNITS ? 10n ** BigInt(60 + places) - 1n : MAX_UNITS;
const decimals = fc.integer({ min: 0, max: 18 });
const readable = decimals.chain((places) =>
  fc.tuple(fc.bigInt({ min: 0n, max: largest(places) }), fc.constant(places)),
);
const RATE_ONE = 10n ** BigInt(RATE_DECIMALS);

describe('amounts as text', () => {
  it('come back as they were, for every amount and every number of decimals', () => {
    fc.assert(
      fc.property(readable, ([amount, places]) => parseUnits(formatUnits(amount, places), places) === amount),
    );
  });

  it('have one spelling: what is printed is what is printed again after parsing', () => {
    fc.assert(
      fc.property(readable, ([amount, places]) => {
        const text = formatUnits(amount, places);
        expect(text).to.match(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        expect(formatUnits(parseUnits(text, places), places)).to.equal(text);
      }),
    );
  });

  it('are read exactly where a float would round', () => {
    expect(parseUnits('0.1', 18)).to.equal(100_000_000_000_000_000n);
    expect(parseUnits('9007199254740993.000000000000000001', 18)).to.equal(
      9_007_199_254_740_993_000_000_000_000_000_001n,
    );
    expect(parseUnits('12.500000', 6)).to.equal(12_500_000n);
    expect(parseUnits('1.10', 1)).to.equal(11n);
    expect(parseUnits('0', 0)).to.equal(0n);
  });

  it('are printed without trailing zeros, and with a sign where they are negative', () => {
    expect(formatUnits(12_500_000n, 6)).to.equal('12.5');
    expect(formatUnits(1n, 18)).to.equal('0.000000000000000001');
    expect(formatUnits(0n, 18)).to.equal('0');
    expect(formatUnits(7n, 0)).to.equal('7');
    expect(formatUnits(-1n, 6)).to.equal('-0.000001');
    expect(formatUnits(-1_000_000n, 6)).to.equal('-1');
  });

  it('refuse whatever other parsers take for a number', () => {
    for (const text of ['', '-1', '1.', '01', '1,5', '1e3', '0x10', '1\n', '\uff11', `1${'0'.repeat(60)}`])
      expect(() => parseUnits(text, 18), JSON.stringify(text.slice(0, 30))).to.throw(RangeError);
  });

  it('refuse what is no plain decimal, whatever it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^\d+(\.\d+)?$/.test(text));
        expect(() => parseUnits(text, 18)).to.throw(RangeError);
      }),
    );
  });

  it('refuse more decimals than the asset has instead of cutting them off', () => {
    expect(() => parseUnits('0.0000001', 6)).to.throw(RangeError, 'at most 6 decimals');
    expect(() => parseUnits('1.5', 0)).to.throw(RangeError, 'at most 0 decimals');
    expect(parseUnits('0.1000000', 6)).to.equal(100_000n);
  });

  it('end at the largest number that a column and an EVM word can hold', () => {
    expect(parseUnits(MAX_UNITS.toString().slice(0, 60), 0) <= MAX_UNITS).to.equal(true);
    expect(parseUnits(formatUnits(MAX_UNITS, 18), 18)).to.equal(MAX_UNITS);
    expect(() => parseUnits(formatUnits(MAX_UNITS + 1n, 18), 18)).to.throw(RangeError, 'too large');
  });
});

describe('the value in USD', () => {
  it('is rounded half up to the cent', () => {
    const cents = (text: string) => usdCents(parseUnits(text, 18), 18, RATE_ONE);
    expect(cents('0.004999999999999999')).to.equal(0n);
    expect(cents('0.005')).to.equal(1n);
    expect(cents('0.014999999999999999')).to.equal(1n);
    expect(cents('0.015')).to.equal(2n);
    expect(cents('12.5')).to.equal(1_250n);
  });

  it('is within half a cent of the exact value, ties going up', () => {
    fc.assert(
      fc.property(units, decimals, fc.bigInt({ min: 0n, max: 10n ** 15n }), (amount, places, rate) => {
        const divisor = 10n ** BigInt(places + RATE_DECIMALS);
        const error = usdCents(amount, places, rate) * divisor - amount * rate * 100n;
        expect(2n * error > -divisor && 2n * error <= divisor).to.equal(true);
      }),
    );
  });

  it('does not exist for a negative amount or rate', () => {
    expect(() => usdCents(-1n, 18, RATE_ONE)).to.throw(RangeError);
    expect(() => usdCents(1n, 18, -1n)).to.throw(RangeError);
  });
});

describe('numbers on the wire', () => {
  it('have at most two decimals and lose no cent below 2^53', () => {
    expect([0n, 1n, 10n, 1_250n, 99_999n].map(centsToJsonNumber)).to.deep.equal([0, 0.01, 0.1, 12.5, 999.99]);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 53n / 100n }), (cents) => {
        const text = JSON.stringify(centsToJsonNumber(cents));
        expect(parseUnits(text, 2)).to.equal(cents);
      }),
    );
  });

  it('show a rate with its eight decimals, and none where there is none', () => {
    expect(rateToJsonNumber(60_012_345_678n)).to.equal(600.12345678);
    expect(rateToJsonNumber(null)).to.equal(null);
  });
});
