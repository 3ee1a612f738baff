import { expect } from 'chai';
import fc from 'fast-check';
import { chooseGasPrice, floorIn, type GasPrice } from '../../../../src/chains/bsc/spending/gas-price.ts';

const GWEI = 10n ** 9n;
const MAX = 5n * GWEI;
const choose = (told: readonly bigint[], above?: bigint, floorWei = 0n): GasPrice =>
  chooseGasPrice(told, { maxWei: MAX, floorWei, above });
const paid = (...told: Parameters<typeof choose>): bigint => choose(...told).wei ?? expect.fail('refused');
const LATER = 'it goes by itself once gas is cheaper, or at once with a higher BSC_MAX_GAS_PRICE_GWEI';

describe('the price that is paid for gas', () => {
  const PAID: readonly (readonly [
    what: string,
    told: readonly bigint[],
    above: bigint | undefined,
    wei: bigint,
  ])[] = [
    ['an eighth above what the node tells', [GWEI], undefined, 1_125_000_000n],
    ['rounded up', [50_000_001n], undefined, 56_250_002n],
    ['never above what is allowed', [MAX - 1n], undefined, MAX],
    ['what is allowed', [MAX], undefined, MAX],
    ['above nothing where every node says that gas is free', [0n, 0n], undefined, 2n],
    ['not nothing where not every node says so', [0n, GWEI, 0n], undefined, 1_125_000_000n],
    ['not what one of two makes too dear', [10n ** 18n, GWEI], undefined, 1_125_000_000n],
    ['not what one of three makes too dear', [GWEI, MAX + 1n, GWEI], undefined, 1_125_000_000n],
    ['too cheap by the word of one', [1n, GWEI], undefined, 2n],
    ['outbid by the price of the other one then', [1n, GWEI], 2n, 1_125_000_000n],
    ['outbid by no price that is not allowed', [1n, 10n ** 18n], GWEI, 1_125_000_000n],
    ['the very limit, where that is a tenth more', [GWEI], 4_545_454_545n, MAX],
  ];
  for (const [what, told, above, wei] of PAID)
    it(`is ${what}`, () => expect(choose(told, above)).to.include({ wei }));

  it('is never below what nodes take, also where they tell nothing or what waits pays next to nothing', () => {
    const floor = 50_000_000n;
    for (const above of [undefined, 2n]) expect(choose([0n], above, floor)).to.include({ wei: 56_250_000n });
    expect(choose([GWEI], undefined, floor)).to.include({ wei: 1_125_000_000n });
    expect(choose([0n], undefined, MAX + 1n).refused).to.match(/^gas costs 5.000000001 gwei/);
  });

  it('is at least what a refusal names, the least of several', () => {
    const names = (wei: string) =>
      `a: error -32000: transaction underpriced: gas tip cap 2, minimum needed ${wei}`;
    expect(floorIn([names('90000000'), names('50000000')])).to.equal(50_000_000n);
    for (const said of [
      'b: no answer',
      'b: nonce too low',
      'b: transaction underpriced',
      names('9'.repeat(40)),
    ])
      expect(floorIn([names('90000000'), said]), 'one endpoint alone makes nothing dear').to.equal(undefined);
    expect(floorIn([])).to.equal(undefined);
  });

  it('is refused above what is allowed, with both prices in gwei and what to do', () => {
    expect(choose([7_500_000_000n]).refused).to.equal(
      `gas costs 7.5 gwei, and at most 5 gwei are paid: ${LATER}`,
    );
    expect(choose([GWEI], 4_600_000_000n).refused).to.equal(
      `what waits pays 4.6 gwei, another one in its place has to pay 5.06 gwei, and at most 5 gwei are paid: ${LATER}`,
    );
    expect(choose([6n * GWEI], GWEI).refused).to.match(/^gas costs 6 gwei, and at most 5 gwei/);
    expect(choose([GWEI], 4_545_454_546n).refused).to.match(/5.000000001 gwei/);
  });

  it('is always within its limits, a tenth above what it outbids, and within what honest ones tell', () => {
    const price = fc.bigInt(0n, 10n ** 19n);
    const outbid = fc.option(fc.bigInt(1n, 10n ** 11n), { nil: undefined });
    const told = fc.array(price, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(told, outbid, fc.bigInt(1n, 10n ** 13n), (prices, above, maxWei) => {
        const { wei } = chooseGasPrice(prices, { maxWei, floorWei: 0n, above });
        if (wei === undefined) return;
        expect(wei >= 1n && wei <= maxWei).to.equal(true);
        if (above !== undefined) expect(wei * 10n >= above * 11n).to.equal(true);
      }),
    );
    const honest = fc.bigInt(GWEI, 4n * GWEI);
    fc.assert(
      fc.property(honest, honest, price, (one, other, lie) => {
        const paidOfThree = paid([one, lie, other]);
        expect([one, other].some((wei) => paidOfThree <= wei + (wei + 7n) / 8n)).to.equal(true);
        expect(paid([one, lie]) <= one + (one + 7n) / 8n).to.equal(true);
      }),
    );
  });
});
