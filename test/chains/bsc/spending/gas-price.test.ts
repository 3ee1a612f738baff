import { expect } from 'chai';
import fc from 'fast-check';
import { chooseGasPrice, type GasPrice } from '../../../../src/chains/bsc/spending/gas-price.ts';

const GWEI = 10n ** 9n;
const MAX = 5n * GWEI;

const paid = (price: GasPrice): bigint => price.wei ?? expect.fail(price.refused);
const refusal = (price: GasPrice): string => price.refused ?? expect.fail(`it pays ${price.wei}`);
const choose = (told: readonly bigint[], above?: bigint): GasPrice =>
  chooseGasPrice(told, { maxWei: MAX, above });

describe('the price that is paid for gas', () => {
  it('is an eighth above what the node tells, and never above what is allowed', () => {
    expect(paid(choose([GWEI]))).to.equal(1_125_000_000n);
    expect(paid(choose([50_000_001n]))).to.equal(56_250_002n);
    expect(paid(choose([MAX - 1n]))).to.equal(MAX);
    expect(paid(choose([MAX]))).to.equal(MAX);
  });

  it('is above nothing where every node says that gas is free', () => {
    expect(paid(choose([0n]))).to.equal(2n);
    expect(paid(choose([0n, 0n]))).to.equal(2n);
    expect(paid(choose([0n, GWEI, 0n]))).to.equal(1_125_000_000n);
  });

  it('is never decided by one endpoint that asks for too much', () => {
    for (const lie of [3n * GWEI, MAX + 1n, 10n ** 18n]) {
      expect(paid(choose([lie, GWEI])), 'of two').to.equal(1_125_000_000n);
      expect(paid(choose([GWEI, lie, GWEI])), 'of three').to.equal(1_125_000_000n);
      expect(paid(choose([lie, GWEI], GWEI)) <= MAX).to.equal(true);
    }
  });

  it('outbids what an endpoint made too cheap by the price of the other one', () => {
    const cheap = paid(choose([1n, GWEI]));
    expect(cheap).to.equal(2n);
    expect(paid(choose([1n, GWEI], cheap))).to.equal(1_125_000_000n);
    expect(paid(choose([1n, 10n ** 18n], GWEI)), 'not by a price that is not allowed').to.equal(
      1_125_000_000n,
    );
  });

  it('is refused above what is allowed, with both prices in gwei and what to do', () => {
    expect(refusal(choose([7_500_000_000n]))).to.equal(
      'gas costs 7.5 gwei, and at most 5 gwei are paid: it goes by itself once gas is cheaper, or at once with a higher BSC_MAX_GAS_PRICE_GWEI',
    );
    expect(refusal(choose([GWEI], 4_600_000_000n))).to.equal(
      'what waits pays 4.6 gwei, another one in its place has to pay 5.06 gwei, and at most 5 gwei are paid: it goes by itself once gas is cheaper, or at once with a higher BSC_MAX_GAS_PRICE_GWEI',
    );
    expect(refusal(choose([6n * GWEI], GWEI))).to.match(/^gas costs 6 gwei, and at most 5 gwei/);
  });

  it('replaces at the very limit where that is a tenth more', () => {
    expect(paid(choose([GWEI], 4_545_454_545n))).to.equal(MAX);
    expect(refusal(choose([GWEI], 4_545_454_546n))).to.match(/5.000000001 gwei/);
  });

  it('is always within its limits, a tenth above what it outbids, and within what honest ones tell', () => {
    const price = fc.bigInt(0n, 10n ** 19n);
    fc.assert(
      fc.property(
        fc.array(price, { minLength: 1, maxLength: 6 }),
        fc.option(fc.bigInt(1n, 10n ** 11n), { nil: undefined }),
        fc.bigInt(1n, 10n ** 13n),
        (told, above, maxWei) => {
          const { wei } = chooseGasPrice(told, { maxWei, above });
          if (wei === undefined) return;
          expect(wei >= 1n && wei <= maxWei).to.equal(true);
          if (above !== undefined) expect(wei * 10n >= above * 11n).to.equal(true);
        },
      ),
    );
    const honest = fc.bigInt(GWEI, 4n * GWEI);
    fc.assert(
      fc.property(honest, honest, price, (one, other, lie) => {
        const paidOfThree = paid(choose([one, lie, other]));
        expect([one, other].some((wei) => paidOfThree <= wei + (wei + 7n) / 8n)).to.equal(true);
        expect(paid(choose([one, lie])) <= one + (one + 7n) / 8n).to.equal(true);
      }),
    );
  });
});
